//! What kind of column a list of words is.

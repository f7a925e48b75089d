"""What all tests share."""

import os

# scikit-learn's checks of array inputs skip themselves without it; scipy reads it when it is first imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

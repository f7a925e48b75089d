//! Routes and requests. Work that may take long runs on threads for blocking work.

use crate::assets::{self, StudioPage};
use crate::code;
use crate::compare_run::{CompareRun, RunSettings};
use crate::data_choice::{DataChoice, TableSource};
use crate::error::StudioError;
use crate::events;
use crate::guard::guard;
use crate::playground::{self, PlaygroundRequest};
use crate::session::Session;
use crate::trained::{ModelFile, ModelOrigin};
use crate::what_if;
use crate::workspace::upload_name;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use ermine::exchange::ExportFormat;
use ermine::registry;
use ermine_core::atomic::write_atomically;
use ermine_core::learner::Context;
use ermine_core::learner::fit::can_learn;
use ermine_core::matrix::{Splits, Task};
use ermine_core::measure::Measure;
use ermine_eval::compare::is_suitable;
use ermine_eval::evaluate::Validation;
use ermine_eval::evaluate::curves::{Sizes, learning_curve};
use ermine_server::{Config, LogLevel, Server, Stopper};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

/// Largest JSON body.
const MOST_JSON: usize = 4 << 20;
/// The shares of the rows of a learning curve.
const SHARES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 1.0];

/// What all requests share.
pub struct StudioState {
    /// The session.
    pub session: Arc<Session>,
    /// The token that requests must carry.
    pub token: String,
    /// The port that the studio listens on.
    pub port: u16,
    max_upload: u64,
    /// Models that are served, by their numbers.
    served: Mutex<HashMap<u32, (SocketAddr, Stopper)>>,
}

impl StudioState {
    /// The state of a studio.
    pub fn new(session: Arc<Session>, token: String, port: u16, max_upload: u64) -> StudioState {
        StudioState { session, token, port, max_upload, served: Mutex::default() }
    }

    /// The name of the cookie with the token; browsers share cookies between ports.
    pub fn cookie(&self) -> String {
        format!("ermine_studio_{}", self.port)
    }
}

type Shared = State<Arc<StudioState>>;
type HandlerResult = Result<Response, StudioError>;

/// All routes, guarded.
pub fn router(state: &Arc<StudioState>) -> Router {
    Router::new()
        .route("/", get(|| async { Redirect::to("/data") }))
        .route("/data", get(|| page(&assets::DATA)))
        .route("/compare", get(|| page(&assets::COMPARE)))
        .route("/models", get(|| page(&assets::MODELS)))
        .route("/models/{id}", get(|| page(&assets::MODEL)))
        .route("/models/{id}/what-if", get(|| page(&assets::WHAT_IF)))
        .route("/models/{id}/keep", get(|| page(&assets::KEEP)))
        .route("/learn", get(|| page(&assets::LEARN)))
        .route("/assets/{name}", get(asset))
        .route("/favicon.ico", get(|| async { Redirect::to("/assets/icon.svg") }))
        .route("/api/session", get(session))
        .route("/api/files", get(files))
        .route("/api/open", post(open))
        .route("/api/upload", post(upload).layer(DefaultBodyLimit::disable()))
        .route("/api/table", get(table))
        .route("/api/rows", get(rows))
        .route("/api/target", get(target).post(choose))
        .route("/api/learners", get(learners))
        .route("/api/runs", post(start_run))
        .route("/api/runs/{id}", get(show_run))
        .route("/api/runs/{id}/events", get(run_events))
        .route("/api/runs/{id}/stop", post(stop_run))
        .route("/api/runs/{id}/continue", post(continue_run))
        .route("/api/runs/{id}/code", get(run_code))
        .route("/api/runs/{id}/entries/{index}/curve", get(entry_curve))
        .route("/api/models", post(start_model))
        .route("/api/models/{id}", get(show_model).delete(delete_model))
        .route("/api/models/{id}/code", get(model_code))
        .route("/api/models/{id}/picture.svg", get(picture))
        .route("/api/models/{id}/member/{member}", get(member_picture))
        .route("/api/models/{id}/form", get(form))
        .route("/api/models/{id}/rows/{row}", get(training_row))
        .route("/api/models/{id}/what-if", post(answer_what_if))
        .route("/api/models/{id}/export/{format}", get(export))
        .route("/api/models/{id}/report", get(report))
        .route("/api/models/{id}/save", post(save))
        .route("/api/models/{id}/serve", post(serve).delete(stop_serving))
        .route("/api/playground", get(playground_learners).post(fit_playground))
        .fallback(unknown_path)
        .with_state(state.clone())
        .layer(DefaultBodyLimit::max(MOST_JSON))
        .layer(from_fn_with_state(state.clone(), guard))
}

async fn page(page: &StudioPage) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.html()).into_response()
}

async fn asset(Path(name): Path<String>) -> HandlerResult {
    let (kind, bytes) = assets::asset(&name).ok_or_else(|| StudioError::not_found(format!("there is no {name}")))?;
    Ok(([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, "no-cache")], bytes).into_response())
}

async fn unknown_path() -> StudioError {
    StudioError::not_found("there is nothing at this address")
}

fn json_response(value: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}

/// The body of a request as JSON.
fn parsed<T: DeserializeOwned>(body: &Bytes) -> Result<T, StudioError> {
    serde_json::from_slice(body).map_err(|e| StudioError::bad_request(format!("the body is not as expected: {e}")))
}

/// Runs work on a thread for blocking work.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StudioError> + Send + 'static,
) -> Result<T, StudioError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let message = "the request failed inside the program; this is a defect";
        Err(StudioError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message))
    })
}

async fn session(State(state): Shared) -> Response {
    json_response(&state.session.view())
}

// Data

#[derive(Deserialize)]
struct FolderQuery {
    #[serde(default)]
    folder: String,
}

async fn files(State(state): Shared, Query(query): Query<FolderQuery>) -> HandlerResult {
    blocking(move || Ok(json_response(&json!({ "files": state.session.workspace.list(&query.folder)? })))).await
}

async fn open(State(state): Shared, body: Bytes) -> HandlerResult {
    let source: TableSource = parsed(&body)?;
    blocking(move || {
        state.session.open_table(source)?;
        Ok(json_response(&json!({ "opened": true })))
    })
    .await
}

#[derive(Deserialize)]
struct UploadQuery {
    name: String,
}

async fn upload(State(state): Shared, Query(query): Query<UploadQuery>, body: Body) -> HandlerResult {
    let name = upload_name(&query.name)?;
    let folder = state.session.workspace.uploads();
    std::fs::create_dir_all(&folder)?;
    let partial = folder.join(format!(".{name}.{:x}", std::process::id()));
    let written = receive(body, &partial, state.max_upload).await;
    if let Err(error) = written {
        let _ = std::fs::remove_file(&partial);
        return Err(error);
    }
    let path = folder.join(&name);
    std::fs::rename(&partial, &path)?;
    blocking(move || {
        let source = TableSource { path: path.display().to_string(), types: Default::default() };
        state.session.open_table(source)?;
        Ok(json_response(&json!({ "opened": true })))
    })
    .await
}

/// Writes a body to a file, up to a limit.
async fn receive(mut body: Body, path: &std::path::Path, limit: u64) -> Result<(), StudioError> {
    let mut file = std::fs::File::create(path)?;
    let mut n_bytes = 0u64;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|e| StudioError::bad_request(format!("the upload broke off: {e}")))?;
        let Ok(data) = frame.into_data() else { continue };
        n_bytes += data.len() as u64;
        if n_bytes > limit {
            let message = format!(
                "the file has more than {} MB; start the studio in its folder and open it by its path",
                limit >> 20
            );
            return Err(StudioError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message));
        }
        tokio::task::block_in_place(|| file.write_all(&data))?;
    }
    Ok(tokio::task::block_in_place(|| file.sync_all())?)
}

async fn table(State(state): Shared) -> HandlerResult {
    blocking(move || {
        let open = state.session.current()?;
        Ok(json_response(&json!({ "source": open.source, "notes": open.notes, "overview": open.overview })))
    })
    .await
}

#[derive(Deserialize)]
struct RowsQuery {
    #[serde(default)]
    start: usize,
}

/// Rows of a page of the table.
const ROWS_SHOWN: usize = 50;

async fn rows(State(state): Shared, Query(query): Query<RowsQuery>) -> HandlerResult {
    blocking(move || {
        let open = state.session.current()?;
        let end = (query.start.saturating_add(ROWS_SHOWN)).min(open.table.n_rows());
        let row = |row: usize| open.table.columns().iter().map(|column| column.text(row)).collect::<Vec<_>>();
        let rows: Vec<_> = (query.start.min(end)..end).map(row).collect();
        Ok(json_response(
            &json!({ "names": open.table.names(), "start": query.start, "n_rows": open.table.n_rows(), "rows": rows }),
        ))
    })
    .await
}

async fn target(State(state): Shared) -> HandlerResult {
    blocking(move || {
        let Some(choice) = state.session.choice() else { return Ok(json_response(&Value::Null)) };
        let overview = state.session.target_overview(&choice)?;
        Ok(json_response(&json!({ "choice": choice, "overview": overview })))
    })
    .await
}

/// The roles of the columns of the current table.
#[derive(Deserialize)]
struct RolesRequest {
    target: String,
    #[serde(default)]
    task: Option<Task>,
    #[serde(default)]
    weight: Option<String>,
    #[serde(default)]
    group: Option<String>,
    #[serde(default)]
    ignore: Vec<String>,
}

async fn choose(State(state): Shared, body: Bytes) -> HandlerResult {
    let roles: RolesRequest = parsed(&body)?;
    blocking(move || {
        let source = state.session.current()?.source.clone();
        let RolesRequest { target, task, weight, group, ignore } = roles;
        let choice = DataChoice { source, target, task, weight, group, ignore };
        let overview = state.session.choose(choice.clone())?;
        Ok(json_response(&json!({ "choice": choice, "overview": overview })))
    })
    .await
}

async fn learners(State(state): Shared) -> HandlerResult {
    blocking(move || {
        let data = state.session.choice().map(|choice| state.session.dataset(&choice)).transpose()?;
        let one = |entry: &'static ermine::registry::RegistryEntry| {
            let learner = (entry.make)();
            let can = data.as_ref().is_none_or(|data| can_learn(&*learner, data.task()) && learner.needs_target());
            let usual = data.as_ref().is_some_and(|data| is_suitable(&*learner, data, registry::DEFAULT));
            let info = learner.info();
            can.then(|| json!({ "name": info.name, "summary": info.summary, "family": info.family, "usual": usual }))
        };
        let measures = data.as_ref().map_or_else(Vec::new, |data| {
            ermine_core::measure::measures().filter(|measure| measure.check(data.task()).is_ok()).collect()
        });
        let measure = |measure: &Measure| json!({ "name": measure.word(), "title": measure.title() });
        Ok(json_response(&json!({
            "learners": registry::learners().filter_map(one).collect::<Vec<_>>(),
            "measures": measures.iter().map(measure).collect::<Vec<_>>(),
        })))
    })
    .await
}

// Comparisons

async fn start_run(State(state): Shared, body: Bytes) -> HandlerResult {
    let settings: RunSettings = parsed(&body)?;
    let is_budget = settings.budget.is_none_or(|seconds| seconds.is_finite() && seconds > 0.0);
    if settings.folds < 2 || !is_budget {
        return Err(StudioError::bad_request("a comparison needs at least 2 folds, and a budget above 0 s or none"));
    }
    blocking(move || Ok(json_response(&state.session.start_run(settings)?.view()))).await
}

async fn show_run(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    Ok(json_response(&state.session.run(id)?.view()))
}

async fn run_events(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    Ok(events::stream(state.session.run(id)?))
}

async fn stop_run(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    state.session.run(id)?.stop();
    Ok(json_response(&json!({ "stopping": true })))
}

async fn continue_run(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || Ok(json_response(&state.session.continue_run(id)?.view()))).await
}

/// The task of a data set, if its table is at hand.
fn task_of(state: &StudioState, data: &DataChoice) -> Option<Task> {
    data.task.or_else(|| state.session.dataset(data).ok().map(|data| data.task()))
}

async fn run_code(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let run = state.session.run(id)?;
        Ok(json_response(&code::of_comparison(&run.data, &run.settings, task_of(&state, &run.data))))
    })
    .await
}

/// The model that an entry of a comparison stands for.
fn origin_of(run: &CompareRun, index: usize) -> Result<ModelOrigin, StudioError> {
    let progress = run.progress();
    let entry = progress.entries.get(index);
    let entry = entry.ok_or_else(|| StudioError::not_found(format!("comparison {} has no entry {index}", run.id)))?;
    Ok(ModelOrigin {
        data: run.data.clone(),
        learner: entry.learner.clone(),
        setting: entry.setting.clone(),
        standardized: entry.standardized,
        seed: run.settings.seed,
    })
}

async fn entry_curve(State(state): Shared, Path((id, index)): Path<(u32, usize)>) -> HandlerResult {
    blocking(move || {
        let run = state.session.run(id)?;
        let origin = origin_of(&run, index)?;
        let (data, learner) = (state.session.dataset(&run.data)?, origin.learner()?);
        let splits = Splits::repeated(&data, run.settings.folds, 1, run.settings.seed)?;
        let measure = run.settings.measure.as_deref().map(Measure::parse).transpose()?;
        let measures = Measure::headline(data.task(), measure);
        let validation = Validation { train_scores: true, ..Validation::new(&splits, &measures[..1]) };
        let context = Context { seed: run.settings.seed, ..ermine::context() };
        let points = learning_curve(&*learner, &data, &validation, Sizes::Shares(&SHARES), &context)?;
        let code = code::of_model(&origin, Some(data.task()));
        Ok(json_response(&json!({ "points": points, "measure": measures[0].title(), "code": code })))
    })
    .await
}

// Models

/// Which entry of which comparison, or a learner with parameters on the current data.
#[derive(Deserialize)]
#[serde(untagged)]
enum ModelRequest {
    Entry {
        run: u32,
        index: usize,
    },
    Learner {
        learner: String,
        #[serde(default)]
        setting: std::collections::BTreeMap<String, String>,
    },
    Again {
        model: u32,
    },
}

async fn start_model(State(state): Shared, body: Bytes) -> HandlerResult {
    let request: ModelRequest = parsed(&body)?;
    blocking(move || {
        let session = &state.session;
        let origin = match request {
            ModelRequest::Entry { run, index } => origin_of(&*session.run(run)?, index)?,
            ModelRequest::Again { model } => session.model(model)?.origin.clone(),
            ModelRequest::Learner { learner, setting } => {
                let chosen = session.choice().ok_or_else(|| StudioError::conflict("choose a target first"))?;
                let made = registry::learner(&learner)?;
                let standardized = ermine_core::learner::raw_columns::needs_standardizing(&*made);
                let parse = |(name, text): (String, String)| (name, ermine_core::param::Value::parse(&text));
                let setting = setting.into_iter().map(parse).collect();
                ModelOrigin { data: chosen, learner, setting, standardized, seed: 0 }
            }
        };
        origin.learner()?;
        Ok(json_response(&session.start_model(origin)?.summary()))
    })
    .await
}

async fn show_model(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let mut view = state.session.model(id)?.facts(&state.session.models_folder())?;
        let served = state.served.lock().unwrap_or_else(PoisonError::into_inner);
        view["served"] = json!(served.get(&id).map(|(address, _)| format!("http://{address}")));
        Ok(json_response(&view))
    })
    .await
}

async fn delete_model(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        state.session.delete_model(id)?;
        if let Some((_, stopper)) = state.served.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
            stopper.stop();
        }
        Ok(json_response(&json!({ "deleted": true })))
    })
    .await
}

async fn model_code(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let model = state.session.model(id)?;
        Ok(json_response(&code::of_model(&model.origin, task_of(&state, &model.origin.data))))
    })
    .await
}

fn svg_response(svg: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], svg.into()).into_response()
}

async fn picture(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let path = state.session.model(id)?.file(&state.session.models_folder(), ModelFile::Picture);
        Ok(svg_response(std::fs::read(path).map_err(|_| StudioError::not_found("this model has no picture"))?))
    })
    .await
}

/// A member of an ensemble, counted from 1.
async fn member_picture(State(state): Shared, Path((id, member)): Path<(u32, usize)>) -> HandlerResult {
    blocking(move || {
        let model = state.session.model(id)?.model(&state.session.models_folder())?;
        let index = member.checked_sub(1).ok_or_else(|| StudioError::bad_request("members are counted from 1"))?;
        let svg = model.member(index)?.svg();
        Ok(svg_response(svg.ok_or_else(|| StudioError::not_found("this member has no picture"))?))
    })
    .await
}

async fn form(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let trained = state.session.model(id)?;
        let model = trained.model(&state.session.models_folder())?;
        let data = state.session.dataset(&trained.origin.data)?;
        Ok(json_response(&what_if::form(&model, &data)?))
    })
    .await
}

async fn training_row(State(state): Shared, Path((id, row)): Path<(u32, usize)>) -> HandlerResult {
    blocking(move || {
        let trained = state.session.model(id)?;
        let model = trained.model(&state.session.models_folder())?;
        let row = row.checked_sub(1).ok_or_else(|| StudioError::bad_request("rows are counted from 1"))?;
        let data = state.session.dataset(&trained.origin.data)?;
        Ok(json_response(&what_if::row_values(&model, &data, row)?))
    })
    .await
}

#[derive(Deserialize)]
struct WhatIfRequest {
    values: Map<String, Value>,
}

async fn answer_what_if(State(state): Shared, Path(id): Path<u32>, body: Bytes) -> HandlerResult {
    let request: WhatIfRequest = parsed(&body)?;
    blocking(move || {
        let trained = state.session.model(id)?;
        let model = trained.model(&state.session.models_folder())?;
        let data = state.session.dataset(&trained.origin.data)?;
        Ok(json_response(&what_if::answer(&model, &data, &request.values)?))
    })
    .await
}

// Keep

/// A format by its name: the bytes of the file, its extension and its type.
fn exported(state: &StudioState, id: u32, format: &str) -> Result<(Vec<u8>, &'static str, &'static str), StudioError> {
    let trained = state.session.model(id)?;
    let model = trained.model(&state.session.models_folder())?;
    let (format, ending, kind) = match format {
        "ermine" => return Ok((model.to_loadable_bytes()?, "ermine", "application/octet-stream")),
        "onnx" => (ExportFormat::Onnx, "onnx", "application/octet-stream"),
        "c" => (ExportFormat::C, "c", "text/x-c"),
        "rust" => (ExportFormat::Rust, "rs", "text/rust"),
        "json" => (ExportFormat::Json, "json", "application/json"),
        other => {
            let message = format!("'{other}' is not a format; expected ermine, onnx, c, rust or json");
            return Err(StudioError::bad_request(message));
        }
    };
    Ok((ermine::export(&model, format)?, ending, kind))
}

/// A response that browsers save as a file.
fn attachment(bytes: Vec<u8>, name: &str, kind: &'static str) -> Response {
    let ascii: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let mut response = ([(header::CONTENT_TYPE, kind)], bytes).into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("attachment; filename=\"{ascii}\"")) {
        response.headers_mut().insert(header::CONTENT_DISPOSITION, value);
    }
    response
}

fn stem(state: &StudioState, id: u32) -> Result<String, StudioError> {
    let name = code::model_name(&state.session.model(id)?.origin.data.target);
    Ok(name.trim_end_matches(".ermine").to_string())
}

async fn export(State(state): Shared, Path((id, format)): Path<(u32, String)>) -> HandlerResult {
    blocking(move || {
        let (bytes, ending, kind) = exported(&state, id, &format)?;
        Ok(attachment(bytes, &format!("{}.{ending}", stem(&state, id)?), kind))
    })
    .await
}

async fn report(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let path = state.session.model(id)?.file(&state.session.models_folder(), ModelFile::Report);
        let bytes = std::fs::read(path).map_err(|_| StudioError::conflict("the model is not ready"))?;
        Ok(attachment(bytes, &format!("{}-report.html", stem(&state, id)?), "text/html; charset=utf-8"))
    })
    .await
}

#[derive(Deserialize)]
struct SaveRequest {
    path: String,
    #[serde(default)]
    replace: bool,
}

async fn save(State(state): Shared, Path(id): Path<u32>, body: Bytes) -> HandlerResult {
    let request: SaveRequest = parsed(&body)?;
    blocking(move || {
        let place = state.session.workspace.destination(&request.path)?;
        let ending = place.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default();
        let format = match ending.as_str() {
            "rs" => "rust",
            "h" => "c",
            other => other,
        };
        if place.exists() && !request.replace {
            let message = format!("'{}' exists; choose another name or replace it", request.path);
            return Err(StudioError::new(StatusCode::CONFLICT, "exists", message));
        }
        let (bytes, _, _) = exported(&state, id, format).map_err(|e| match e.status {
            StatusCode::BAD_REQUEST => {
                StudioError::bad_request("the file name must end in .ermine, .onnx, .c, .rs or .json")
            }
            _ => e,
        })?;
        write_atomically(&place, &bytes)?;
        Ok(json_response(&json!({ "path": state.session.workspace.shown(&place), "n_bytes": bytes.len() })))
    })
    .await
}

async fn serve(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    blocking(move || {
        let trained = state.session.model(id)?;
        trained.model(&state.session.models_folder())?;
        let mut served = state.served.lock().unwrap_or_else(PoisonError::into_inner);
        let address = match served.get(&id) {
            Some((address, _)) => *address,
            None => {
                let config = Config {
                    models: vec![trained.file(&state.session.models_folder(), ModelFile::Model)],
                    address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
                    log: LogLevel::Off,
                    threads: Some(1),
                    ..Config::default()
                };
                let server = Server::bind(config)?;
                let address = server.address();
                served.insert(id, (address, server.stopper()));
                std::thread::spawn(move || server.run(std::future::pending()));
                address
            }
        };
        Ok(json_response(&json!({ "url": format!("http://{address}"), "model": format!("{id}-model") })))
    })
    .await
}

async fn stop_serving(State(state): Shared, Path(id): Path<u32>) -> HandlerResult {
    if let Some((_, stopper)) = state.served.lock().unwrap_or_else(PoisonError::into_inner).remove(&id) {
        stopper.stop();
    }
    Ok(json_response(&json!({ "stopped": true })))
}

// Playground

async fn playground_learners() -> HandlerResult {
    blocking(|| Ok(json_response(&playground::learners()))).await
}

async fn fit_playground(body: Bytes) -> HandlerResult {
    let request: PlaygroundRequest = parsed(&body)?;
    blocking(move || Ok(json_response(&playground::fit_points(&request)?))).await
}

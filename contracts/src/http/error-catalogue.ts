/**
 * Every error code that a person or a client can see, with its HTTP status and what to do about it.
 * `docs/errors.md` lists the same codes; a test fails when they differ. Codes never change meaning.
 */
type ErrorEntry = { status: number; hint: string };

export const ERROR_CATALOGUE = {
  // 400: the request itself
  validation_failed: { status: 400, hint: "Correct the named field and send the request again." },
  search_invalid: {
    status: 400,
    hint: "Correct the search as the message says; docs/auditor/questions.md lists filters and questions.",
  },
  malformed_request: { status: 400, hint: "Speak HTTP/1.1 over TLS to this port." },
  malformed_body: { status: 400, hint: "Send a JSON body with `Content-Type: application/json`." },
  calendar_invalid: {
    status: 400,
    hint: "Write five fields, such as `0 3 * * 1-5`, and a time zone, such as `Europe/Berlin`.",
  },
  idempotency_key_invalid: {
    status: 400,
    hint: "Use 1 to 128 letters, digits, `.`, `_` or `-` as Idempotency-Key.",
  },

  service_account_key_invalid: {
    status: 400,
    hint: "Send the public half of a P-256 key pair as a JWK, or let `resontech service-accounts create` make the pair.",
  },

  policy_set_invalid: {
    status: 400,
    hint: "Correct the named file; policies/README.md of the release says what a policy needs.",
  },

  // 400: paths of a task
  path_invalid: {
    status: 400,
    hint: "Write a bucket key with one leading `/` and no empty, `.` or `..` parts.",
  },
  path_outside_jobs: {
    status: 400,
    hint: "Put the task's folders under `/jobs/<name>/`, as the client does.",
  },
  path_reserved: {
    status: 400,
    hint: "`model_out/`, `files_out/`, `logs/` and `ckpt/` are written by the platform; choose another folder.",
  },
  too_many_objects: {
    status: 400,
    hint: "Remove files that the job does not need from this folder.",
  },

  // 400: scripts and configs
  script_missing: {
    status: 400,
    hint: "Upload model_def.py, custom_client_executor.py and custom_persistor.py to scripts/.",
  },
  command_script_missing: {
    status: 400,
    hint: "Upload the script to the path that `scriptPath` names.",
  },
  input_folder_empty: {
    status: 400,
    hint: "Upload the inputs to this folder, or leave it out of `inputFolders`.",
  },
  input_name_invalid: {
    status: 400,
    hint: "Rename the object so that it is a path of a file: parts of at most 255 bytes, none of them empty, `.` or `..`.",
  },
  file_place_unknown: {
    status: 400,
    hint: "Add files to scripts/, configs/, requirements/, shards/ or model/ of a federation, to payload/FOLDER/ of a command. Replace a command's script.",
  },
  file_named_twice: {
    status: 400,
    hint: "Name each file once: replace or remove what the earlier job read, and add what it did not have.",
  },
  script_too_large: {
    status: 400,
    hint: "Keep each script under 4 MiB; data belongs into the shards.",
  },
  script_not_text: { status: 400, hint: "Upload the script as UTF-8 text." },
  config_missing: {
    status: 400,
    hint: "Upload config_fed_client.json, config_fed_server.json and meta.json to configs/.",
  },
  config_too_large: { status: 400, hint: "Keep each config under 1 MiB." },
  config_invalid_json: { status: 400, hint: "Correct the JSON at the named place." },
  config_too_deep: { status: 400, hint: "Keep the nesting of the config under 64 levels." },
  config_not_object: { status: 400, hint: "The config's outermost value must be an object." },
  config_executors_missing: {
    status: 400,
    hint: "`config_fed_client.json` needs a list `executors` with at least one executor.",
  },
  config_workflows_missing: {
    status: 400,
    hint: "`config_fed_server.json` needs a list `workflows` with at least one workflow.",
  },
  config_value_invalid: {
    status: 400,
    hint: "Write `num_rounds` and `min_clients` as whole numbers of at least 1.",
  },
  config_class_missing: {
    status: 400,
    hint: "Upload the file that defines the class to scripts/, or correct `path` in the config.",
  },
  meta_invalid: {
    status: 400,
    hint: "`meta.json` needs `name`, `resource_spec`, `deploy_map` and a `min_clients` of at least 1, as the client writes it.",
  },
  min_clients_exceeds_shards: {
    status: 400,
    hint: "One client runs for each shard: upload more shards or lower `min_clients` in meta.json.",
  },

  // 400: requirements
  requirements_missing: {
    status: 400,
    hint: "Upload requirements.txt to the requirements folder; it may be empty.",
  },
  requirements_too_large: { status: 400, hint: "Keep requirements.txt under 64 KiB." },
  requirement_invalid: {
    status: 400,
    hint: "Write the line as `name`, `name==1.2` or another PEP 508 form.",
  },
  requirement_unsupported: {
    status: 400,
    hint: "Inside the perimeter nothing can be fetched: name packages only, without options, files or URLs.",
  },
  callback_url_invalid: {
    status: 400,
    hint: "Write `callbackUrl` as https://host/path. The operator allows the host: `appliance outbound allow HOST`.",
  },
  requirement_unavailable: {
    status: 400,
    hint: "Use a version that the job image holds, or ask the operator for an image with this package.",
  },

  // 400: shards and warm start
  shard_folder_empty: {
    status: 400,
    hint: "Upload at least one `*.zip` to the shards folder: one for each worker.",
  },
  shard_not_zip: { status: 400, hint: "Make the shard with a zip tool and upload it whole." },
  shard_too_many: { status: 400, hint: "A job may have at most 256 shards." },
  zip_empty: { status: 400, hint: "Put the worker's data into the shard." },
  zip_unsafe_path: {
    status: 400,
    hint: "Store relative paths without `..`, drive letters or control characters, at most 255 bytes between two slashes.",
  },
  zip_name_unreadable: {
    status: 400,
    hint: "Name files in ASCII, or pack with a tool that marks names as UTF-8: Python's zipfile, Info-ZIP's zip, 7-Zip with `-mcu=on`.",
  },
  zip_path_conflict: { status: 400, hint: "Store each path once, as a file or as a folder." },
  zip_link: { status: 400, hint: "Store files themselves; links are not unpacked." },
  zip_encrypted: {
    status: 400,
    hint: "Store the shard without a password; the bucket is private.",
  },
  zip_bomb: {
    status: 400,
    hint: "The shard would unpack to far more than its size allows; check how it was made.",
  },
  zip_directory_too_large: {
    status: 400,
    hint: "Keep a shard under 1,000,000 entries and its directory under 64 MiB.",
  },
  zip_unsupported: {
    status: 400,
    hint: "Use stored or deflated entries in one file, not a split archive.",
  },
  model_folder_empty: {
    status: 400,
    hint: "Upload the warm-start file to this folder or leave `modelFolderPath` out.",
  },
  model_file_ambiguous: { status: 400, hint: "Keep one warm-start file in this folder." },

  // 400: workers
  worker_count_mismatch: {
    status: 400,
    hint: "Pin as many workers as there are shards, for each as many as `workersPerMember` says.",
  },
  workers_apart: {
    status: 400,
    hint: "Write the workers member by member, those of each of one node and one model.",
  },
  worker_duplicate: { status: 400, hint: "Pin each worker once." },
  worker_unknown: {
    status: 400,
    hint: "Take worker ids from GET /api/customer/dashboard/workers/stats.",
  },
  worker_selection_missing: {
    status: 400,
    hint: "Give `workerIds`, or leave `autoSelectWorkers` out or true.",
  },
  gpu_model_unknown: { status: 400, hint: "Take model ids from GET /api/gpu-catalog." },
  price_ceiling_too_low: {
    status: 400,
    hint: "Raise `maxPricePerGpuHourCents` or name a cheaper model; see GET /api/gpu-catalog.",
  },
  memory_exceeds_models: {
    status: 400,
    hint: "Name a model with more memory, or lower `estimatedMemoryMb`.",
  },
  pool_unknown: {
    status: 400,
    hint: "Name a pool of GET /api/pools, or none: the job starts where it is let in.",
  },
  image_unavailable: {
    status: 400,
    hint: "No job image of this release fits the chosen workers; ask the operator.",
  },

  // 400: uploads, joining, searches
  cursor_invalid: {
    status: 400,
    hint: "Use a cursor with the very filters that it came with, or begin without one.",
  },
  upload_key_invalid: {
    status: 400,
    hint: "Use a key of at most 1,024 bytes without empty, `.`, `..` or `.sgwtmp` parts.",
  },
  upload_too_large: { status: 400, hint: "One object may have at most 10,000 parts of 50 MiB." },
  upload_parts_invalid: {
    status: 400,
    hint: "Send every part once, in order, with the ETag that the store answered.",
  },
  ssh_key_invalid: {
    status: 400,
    hint: "Send a line of a `.pub` file: ssh-ed25519, ecdsa-sha2-nistp256, 384 or 521, or ssh-rsa of at least 3072 bits; each once.",
  },
  csr_invalid: {
    status: 400,
    hint: "Send a PKCS#10 request in PEM with an ECDSA P-256 or Ed25519 key.",
  },

  // 401, 403
  invalid_api_key: { status: 401, hint: "Use a platform key that is neither revoked nor expired." },
  malformed_bearer: { status: 401, hint: "Send `Authorization: Bearer rsk_live_…`." },
  invalid_token: { status: 401, hint: "Sign in again: `resontech login`." },
  service_account_over: {
    status: 401,
    hint: "The service account was revoked or has expired: a project lead makes a new one.",
  },
  session_required: { status: 401, hint: "Sign in, or send a platform key." },
  join_token_invalid: {
    status: 401,
    hint: "Ask the operator for a new join token; each works once and for a short time.",
  },
  registry_login_invalid: {
    status: 401,
    hint: "Ask the coordinator for a new pull password; each works once.",
  },
  metrics_token_invalid: {
    status: 401,
    hint: "Send `Authorization: Bearer` with the token that `appliance metrics token` shows.",
  },
  user_disabled: {
    status: 403,
    hint: "Ask the operator, who disabled this user and can enable the user again.",
  },
  approval_answered: {
    status: 409,
    hint: "Look at the request: somebody answered it, or its time is over. Ask again where needed.",
  },
  project_exists: { status: 409, hint: "Choose another name: the team has a project of this one." },
  last_lead: {
    status: 409,
    hint: "Make another member lead first: somebody must be able to say who is a member.",
  },
  member_active: {
    status: 409,
    hint: "Take the member out of the project first, or let the operator disable the user.",
  },
  role_unchanged: { status: 409, hint: "Nothing has to be done: look at the person's roles." },
  duties_conflict: {
    status: 409,
    hint: "Take the other role away first: who checks the others is none of them.",
  },
  last_admin: {
    status: 409,
    hint: "Make another person administrator first: somebody must be able to run the appliance.",
  },
  role_without_project: {
    status: 400,
    hint: "Name the project as well: `--project P`.",
  },
  role_in_project: {
    status: 400,
    hint: "Leave `--project` out: the role is of the whole appliance, and is asked for.",
  },
  user_left: {
    status: 403,
    hint: "Ask whoever keeps the directory: the user's account is gone or disabled there. A sign-in in the browser makes the key good again.",
  },
  sign_in_needed: {
    status: 403,
    hint: "Sign in in the browser once: the user's provider tells of nobody who leaves, so keys rest seven days after the last sign-in.",
  },
  directory_user: {
    status: 409,
    hint: "Change the password where the person is known: in the connected directory.",
  },
  name_taken: {
    status: 409,
    hint: "Choose another name: this one belongs to somebody else at the identity provider.",
  },
  csrf_refused: {
    status: 403,
    hint: "Reload the page: only a page of this appliance may change anything with a session's cookie.",
  },
  sign_in_refused: {
    status: 403,
    hint: "Open the dashboard and sign in again; where that is refused too, ask the operator.",
  },
  session_only: {
    status: 403,
    hint: "Platform keys are minted in a signed-in browser session, never by a key.",
  },
  role_required: { status: 403, hint: "Ask a project lead or an administrator for the role." },
  role_conflict: {
    status: 403,
    hint: "Ask a security officer to take one of the two roles away, or act as somebody else.",
  },
  own_request: { status: 403, hint: "Ask another person to decide the request." },
  export_files_unknown: {
    status: 409,
    hint: "List the job's outputs anew, and ask for files that stand there.",
  },
  signature_required: {
    status: 409,
    hint: "Sign it with your second factor at /dashboard/approvals, then repeat.",
  },
  export_controlled: {
    status: 403,
    hint: "Ask for the release of these outputs: `resontech approvals request export`, or the operator where the whole site is controlled.",
  },
  approval_required: { status: 403, hint: "Ask for the approval of a second person, then repeat." },
  step_up_required: {
    status: 403,
    hint: "Sign in again with the second factor, in a shell by `resontech login`, and repeat within five minutes.",
  },
  origin_refused: {
    status: 403,
    hint: "Open the connection from a page of this appliance, or with a Bearer credential and no Origin.",
  },
  scope_missing: { status: 403, hint: "Use a platform key that has the named scope." },
  quota_exceeded: {
    status: 403,
    hint: "Delete objects that are no longer needed, or ask the operator for a larger quota.",
  },
  share_limit_exceeded: {
    status: 403,
    hint: "Submit a job of fewer workers, or ask an administrator for a higher limit.",
  },
  pool_limit_exceeded: {
    status: 403,
    hint: "Submit a job of fewer workers, name another pool, or ask an administrator for a higher limit of the pool.",
  },
  person_limit_exceeded: {
    status: 403,
    hint: "Submit a job of fewer workers, or ask an administrator for a higher limit per person.",
  },
  guarantee_too_small: {
    status: 403,
    hint: "Let the job make way for others (leave `preemptible: false` out), or ask an administrator for a guarantee.",
  },
  class_refused: {
    status: 403,
    hint: "Leave the class out, or ask for `train` or `scavenger`.",
  },

  // 404, 405, 408, 409, 410, 411, 413, 415, 417, 429, 431
  not_found: {
    status: 404,
    hint: "Check the address and the id; another project's objects are not visible to this key.",
  },
  method_not_allowed: {
    status: 405,
    hint: "Use a method that GET /api/openapi.json lists for this address.",
  },
  request_timeout: { status: 408, hint: "Send the whole request within a minute." },
  bucket_missing: {
    status: 404,
    hint: "The project has no bucket yet: the first upload or key pair makes one.",
  },
  upload_not_found: { status: 404, hint: "The upload was completed or aborted; start a new one." },
  too_many_service_accounts: {
    status: 409,
    hint: "Revoke a service account that is no longer used.",
  },
  too_many_keys: { status: 409, hint: "Revoke a key that is no longer used." },
  id_ambiguous: {
    status: 409,
    hint: "Write more of the id: the message names those that begin so.",
  },
  plan_not_recorded: {
    status: 404,
    hint: "Name a plan that `appliance scheduler plans` lists: older ones have made room, and plans that decided nothing are not recorded.",
  },
  plan_record_damaged: {
    status: 409,
    hint: "Ask for a plan of another file; `appliance scheduler plans` names what can't be read.",
  },
  node_busy: {
    status: 409,
    hint: "Wait until nothing runs there; `appliance node show NODE` shows what does.",
  },
  inference_yaml_invalid: {
    status: 400,
    hint: "Mend inference.yaml at the place that the message names, upload it, and deploy again.",
  },
  image_unknown: {
    status: 400,
    hint: "Write a name of an admitted image in container.image, or ask the operator to admit yours: appliance image add FILE.",
  },
  image_without_program: {
    status: 400,
    hint: "Write container.command in inference.yaml: the program of the image that answers HTTP, and its arguments.",
  },
  image_exists: {
    status: 409,
    hint: "Admit it under another name (--name), or remove the other one first: appliance image rm NAME.",
  },
  image_digest_differs: {
    status: 400,
    hint: "Do not admit it before its maker says which is right; ask for the digest by another way than the file came.",
  },
  image_signature_invalid: {
    status: 400,
    hint: "Sign the output of `appliance image digest FILE --statement` with a key that `appliance image keys` lists.",
  },
  image_key_invalid: {
    status: 400,
    hint: "Give the public half in PEM: openssl pkey -in KEY -pubout.",
  },
  image_in_use: {
    status: 409,
    hint: "Stop the deployments that the message names, or wait until they have ended, and repeat the command.",
  },
  weights_missing: {
    status: 400,
    hint: "Upload the weights to the deployment's model/ folder, or mend model.path in inference.yaml.",
  },
  weights_invalid: {
    status: 400,
    hint: "Upload the model as one file of GGUF, whole, and name it in model.path.",
  },
  model_not_found: {
    status: 404,
    hint: "Name a job that you may read and a file that it left, `job:ID/FILE`, or a model that `resontech models ls` shows, `hub:NAME@REVISION`.",
  },
  model_not_ready: {
    status: 409,
    hint: "Wait until the job is FINISHED, or the model of the hub READY, then ask again.",
  },
  model_exists: {
    status: 409,
    hint: "Give it another revision, or take the old one out: `resontech models rm NAME@REVISION`.",
  },
  model_empty: {
    status: 400,
    hint: "Upload the model's files to this folder first: `resontech storage put`.",
  },
  range_not_satisfiable: {
    status: 416,
    hint: "Ask for bytes that the file has; without a range it comes whole.",
  },
  model_too_large: {
    status: 400,
    hint: "Deploy a smaller model, or the same one in fewer bits.",
  },
  engine_unavailable: {
    status: 400,
    hint: "Write `engine: llama.cpp` with weights in GGUF, or leave `engine` out and deploy a predictor of your own. For `engine: vllm` ask the operator for a bundle of the profile `cuda`.",
  },
  engine_needs_gpu: {
    status: 400,
    hint: "Ask for a GPU: `cluster.device: cuda` in inference.yaml, and no `gpuModels` that is a processor. On processors deploy with `engine: llama.cpp`.",
  },
  not_replaceable: {
    status: 409,
    hint: "Name a deployment that answers, of the same engine, that nothing else is to replace; or deploy without `replaces`.",
  },
  deployment_over: {
    status: 409,
    hint: "Deploy it anew: a new deployment has a key of its own.",
  },
  job_alive: { status: 409, hint: "Wait until the job has ended, or cancel it." },
  inputs_gone: {
    status: 409,
    hint: "Upload what the job was made of, then submit its folder anew.",
  },
  dependency_failed: {
    status: 409,
    hint: "Submit that job again and name the new one, or ask for `ended` in place of `succeeded`.",
  },
  person_queue_full: {
    status: 409,
    hint: "Wait until one of your jobs has started, cancel one that waits, or ask an administrator for a higher limit per person.",
  },
  too_many_schedules: {
    status: 409,
    hint: "Remove a schedule of the project that nobody needs: `resontech schedules rm ID`.",
  },
  workspace_busy: {
    status: 409,
    hint: "Wait for the job that uses this folder, cancel it, or submit under another name.",
  },
  pool_conflict: {
    status: 409,
    hint: "See who has the name or the node: `appliance pools ls`. A pool that is used is removed once it is not.",
  },
  calendar_conflict: {
    status: 409,
    hint: "Choose other nodes or another time, or move the other entry: `appliance maintenance ls`, `appliance reservations ls`.",
  },
  key_conflict: {
    status: 409,
    hint: "Choose another key, or delete the object whose key is a folder of this one.",
  },
  idempotency_conflict: { status: 409, hint: "Use a new Idempotency-Key for a different request." },
  rotation_in_progress: {
    status: 409,
    hint: "Wait for the other rotation of this bucket's key, then try again.",
  },
  user_not_disabled: {
    status: 409,
    hint: "Disable the user first: `appliance user disable NAME`.",
  },
  user_busy: {
    status: 409,
    hint: "Wait for the user's jobs, or end them: `appliance job ls`, `appliance job cancel JOB`.",
  },
  bucket_shared: {
    status: 409,
    hint: "Take the other members out and remove the hub's models of this bucket, or leave the bucket as it is.",
  },
  user_enabled: { status: 409, hint: "Nothing has to be done: this user's keys are good." },
  user_exists: { status: 409, hint: "Choose another user name." },
  username_invalid: {
    status: 400,
    hint: "Use 2 to 32 lower-case letters, digits, `.`, `_` or `-`, a letter first.",
  },
  idempotency_gone: {
    status: 410,
    hint: "The job of this Idempotency-Key was deleted; use a new key.",
  },
  body_too_large: {
    status: 413,
    hint: "Upload files to the bucket; requests themselves are small.",
  },
  length_required: { status: 411, hint: "Send the body with a Content-Length header." },
  unsupported_media_type: { status: 415, hint: "Send JSON with `Content-Type: application/json`." },
  expectation_failed: {
    status: 417,
    hint: "Send the request without an Expect header, or with 100-continue.",
  },
  upgrade_required: {
    status: 426,
    hint: "Connect with WebSocket; `resontech jobs watch` does.",
  },
  headers_too_large: { status: 431, hint: "Send shorter headers; all of them may have 16 KiB." },
  rate_limited: { status: 429, hint: "Send fewer requests; the Retry-After header says when." },

  // 5xx
  internal_error: {
    status: 500,
    hint: "Report the request id to the operator; the log has the cause.",
  },
  audit_unavailable: {
    status: 503,
    hint: "The audit log can't be written; the operator must look at `appliance status`.",
  },
  audit_search_unavailable: {
    status: 503,
    hint: "The search of the audit log did not answer; try again, then ask the operator. Nothing is missing from the log.",
  },
  database_unavailable: {
    status: 503,
    hint: "Nothing was changed; the operator must look at `appliance status`, then try again.",
  },
  figures_away: {
    status: 503,
    hint: "Try again shortly; the operator sees by `appliance status` whether Prometheus runs. Jobs go on without it.",
  },
  identity_unavailable: {
    status: 503,
    hint: "Try again shortly; nobody can sign in while Keycloak does not answer.",
  },
  storage_unavailable: {
    status: 503,
    hint: "The object store did not answer; try again, then ask the operator.",
  },
  restarting: {
    status: 503,
    hint: "Nothing was done: send the request again after the seconds that the Retry-After header says.",
  },
  answer_lost: {
    status: 502,
    hint: "Look whether it was done before you send it again, or send it with the same Idempotency-Key.",
  },
  answer_late: {
    status: 504,
    hint: "Look whether it was done before you send it again, or send it with the same Idempotency-Key.",
  },
  overloaded: { status: 503, hint: "Try again in a few seconds." },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

/** The body of every control-plane error. */
export type ErrorBody = { code: ErrorCode; message: string; hint: string };

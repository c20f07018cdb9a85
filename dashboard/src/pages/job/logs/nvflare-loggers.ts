/** Loggers of NVFlare 2.9.0, as the last part of their names stands in a record: what they say is of the framework, not of the job's code. */
export const NVFLARE_LOGGERS: ReadonlySet<string> = new Set(
  `
  APISpec Adapter AddNoiseToMinMax AdminAPI AdminServer AioConnection AioContext AioGrpcDriver
  AioHttpDriver AioStreamSession AioTcpDriver AnalyticsReceiver Assembler AttachBackend
  Authenticator AuthzFilter AutoCleanResourceManager AuxRunner BaseDriver BaseServer
  BinaryTransfer BlobHandler BroadcastAndProcess BroadcastAndWait ByteStreamer CLIApplet
  CWEResultPrinter CacheableObject Cell CellClientAPI CheckedExecutor ClientAppRunner
  ClientControllerExecutor ClientEngine ClientManager ClientRunner ClientSideController
  ClientTaskWorker CollectAndAssembleAggregator Communicator ComponentBase ConfigFactory
  ConfigService ConnManager Connector ConnectorManager ConvertWeights CoreCell
  CredentialManager CrossSiteEvalClientController CrossSiteEvalServerController
  CrossSiteModelEval CyclicClientController CyclicController DXOAggregator DXOFilter
  DecomposerRegister DefaultJobScheduler DhPSIWorkFlow DownloadService DriverManager
  EventRecorder ExcludeVars ExternalProcessBackend FLClientStarterConfiger FLComponent
  FLComponentWrapper FedJobConfig FederatedClient FederatedClientBase FederatedServer
  FileConnection FileDownloadable FileDriver FilePSIWriter FileRetriever FileTransferModule
  FilesystemStorage FullModelShareableGenerator Gatherer GetTaskCommand GrpcDriver
  HeartbeatMonitor HierarchicalStatisticsController HistogramBinsCleanser IPCAgent
  IPCExchanger InProcessBackend InProcessClientAPI InTimeAccumulateWeightedAggregator
  IntimeModelSelector ItemConsumer JobExecutor JobLogReceiver JobLogStreamer JobMetaValidator
  JobRunner JobStatsReporter JsonStatsFileWriter LazyAggregator LearnerExecutor LoginModule
  MainProcessMonitor MinCountCleanser ModelAggregator ModelLearnerExecutor MsgHighWaterInfo
  MultiProcessExecutor NPFileModelPersistor NPModelLocator NPModelPersistor NPTrainer
  NPValidator NetAgent ObjectRetriever ObjectStreamer PSIController PercentilePrivacy PocEnv
  ProcessAdapter ProcessManager PyApplet ReliableMessage RxTask SVTPrivacy ScatterAndGather
  ScatterAndGatherScaffold SequentialRelayTaskManager Server ServerCommandAgent ServerDeployer
  ServerEngine ServerRunner ServerSideController Servicer SfmConnection SfmEndpoint
  SfmFrameReceiver SimpleIntimeModelSelector SimpleJobDefManager SimpleModelShareableGenerator
  SimulatorClientRunner SimulatorRunner SimulatorServer SiteLogStreamer SocketConnection
  SplitNNController SplitNNLearnerExecutor StatisticsController StatisticsPrivacyFilter
  StatisticsTaskHandler StreamConnection StreamFuture SubWorkerExecutor SubmitUpdateCommand
  SwarmClientController TaskController TaskScriptRunner TieController TieExecutor
  TrainingCommandModule TxTask ViaDownloaderDecomposer WFCommClient WFCommServer _BulkSender
  _ChunkConsumer _ChunkProducer _EntryConsumer _LogTailProducer _RequestReceiver
  _ServerReplyJsonProcessor _Transaction aio_conn aio_http_driver aio_tcp_driver authz
  base_driver blob_streamer byte_receiver byte_streamer communicator components_utils
  conn_manager connection credential_manager driver_manager file_driver filesystem_storage
  fl_context_utils fobs heartbeat_monitor job_meta_validator net_utils numeric_stats prod_env
  scheduler_cmds sfm_conn sfm_endpoint site_security socket_conn stream_types stream_utils
  tcp_driver training_cmds
`
    .trim()
    .split(/\s+/),
);

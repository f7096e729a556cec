BEGIN TRANSACTION;
CREATE TABLE autotune_alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT autotune_alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "autotune_alembic_version" VALUES('0003');
CREATE TABLE config (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	fields JSON NOT NULL, 
	CONSTRAINT pk_config PRIMARY KEY (id), 
	CONSTRAINT uq_config_key UNIQUE ("key")
);
INSERT INTO "config" VALUES(1,'586833c83e040f6959ddf05c67114987','{"block_k":32,"block_m":128,"block_n":128,"copy_bytes":16,"l1":"bypass","mechanism":"cp_async","raster":8,"serial":0,"stages":4,"warp_m":64,"warp_n":64}');
INSERT INTO "config" VALUES(2,'9a4ffe90b403d235932b791fe74c21e2','{"block_k":32,"block_m":128,"block_n":128,"copy_bytes":16,"l1":"bypass","mechanism":"cp_async","raster":8,"serial":1,"stages":4,"warp_m":64,"warp_n":64}');
INSERT INTO "config" VALUES(3,'159e3ad1e3e2dea91423756958fa2b45','{"block_k":32,"block_m":128,"block_n":128,"copy_bytes":16,"l1":"bypass","mechanism":"cp_async","raster":8,"serial":2,"stages":4,"warp_m":64,"warp_n":64}');
CREATE TABLE context (
	id INTEGER NOT NULL, 
	kernel_source_id INTEGER NOT NULL, 
	problem_id INTEGER NOT NULL, 
	device_id INTEGER NOT NULL, 
	toolchain_id INTEGER NOT NULL, 
	policy_id INTEGER NOT NULL, 
	replayed_from TEXT NOT NULL, 
	CONSTRAINT pk_context PRIMARY KEY (id), 
	CONSTRAINT fk_context_kernel_source_id_kernel_source FOREIGN KEY(kernel_source_id) REFERENCES kernel_source (id), 
	CONSTRAINT fk_context_problem_id_problem FOREIGN KEY(problem_id) REFERENCES problem (id), 
	CONSTRAINT fk_context_device_id_device FOREIGN KEY(device_id) REFERENCES device (id), 
	CONSTRAINT fk_context_toolchain_id_toolchain FOREIGN KEY(toolchain_id) REFERENCES toolchain (id), 
	CONSTRAINT fk_context_policy_id_policy FOREIGN KEY(policy_id) REFERENCES policy (id), 
	CONSTRAINT uq_context_identity UNIQUE (kernel_source_id, problem_id, device_id, toolchain_id, policy_id, replayed_from)
);
INSERT INTO "context" VALUES(1,1,1,1,1,1,'');
INSERT INTO "context" VALUES(2,1,2,1,1,1,'');
CREATE TABLE device (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	kind TEXT NOT NULL, 
	name TEXT NOT NULL, 
	driver TEXT NOT NULL, 
	memory_bytes BIGINT NOT NULL, 
	target JSON NOT NULL, 
	uuid TEXT NOT NULL, 
	CONSTRAINT pk_device PRIMARY KEY (id), 
	CONSTRAINT uq_device_key UNIQUE ("key")
);
INSERT INTO "device" VALUES(1,'63dc03faa61097da494501d0ca47520f','cuda','NVIDIA H200','580.1',150323855360,'{"arch":"sm_90a","sm_count":132,"shared_bytes_per_block":232448,"shared_bytes_per_sm":233472,"registers_per_sm":65536,"threads_per_block":1024,"l2_bytes":52428800}','GPU-1');
CREATE TABLE finalist (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	config_id INTEGER NOT NULL, 
	final INTEGER NOT NULL, 
	rounds_ns JSON NOT NULL, 
	finished_at TEXT NOT NULL, 
	CONSTRAINT pk_finalist PRIMARY KEY (id), 
	CONSTRAINT uq_finalist_study_id_context_id_final_config_id UNIQUE (study_id, context_id, final, config_id), 
	CONSTRAINT fk_finalist_study_id_study FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT fk_finalist_context_id_context FOREIGN KEY(context_id) REFERENCES context (id), 
	CONSTRAINT fk_finalist_config_id_config FOREIGN KEY(config_id) REFERENCES config (id)
);
INSERT INTO "finalist" VALUES(1,1,1,1,0,'[1000.5,1001.0,999.0]','2026-01-02T03:22:29.254715Z');
INSERT INTO "finalist" VALUES(2,1,1,2,0,'[1010.0,1012.5,1011.0]','2026-01-02T03:22:29.254715Z');
INSERT INTO "finalist" VALUES(3,1,2,1,0,'[1000.5,1001.0,999.0]','2026-01-02T03:22:29.313987Z');
INSERT INTO "finalist" VALUES(4,1,2,2,0,'[1010.0,1012.5,1011.0]','2026-01-02T03:22:29.313987Z');
CREATE TABLE kernel_source (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	reference TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	CONSTRAINT pk_kernel_source PRIMARY KEY (id), 
	CONSTRAINT uq_kernel_source_name_reference_digest UNIQUE (name, reference, digest)
);
INSERT INTO "kernel_source" VALUES(1,'gemm','gemm','abababababababababababababababab');
CREATE TABLE note (
	id INTEGER NOT NULL, 
	fields JSON NOT NULL, 
	CONSTRAINT pk_note PRIMARY KEY (id), 
	CONSTRAINT fk_note_id_trial FOREIGN KEY(id) REFERENCES trial (id)
);
INSERT INTO "note" VALUES(1,'{"invalidity":"correct","measurements":[{"name":"power","unit":"W","value":412.5}]}');
CREATE TABLE policy (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	fields JSON NOT NULL, 
	CONSTRAINT pk_policy PRIMARY KEY (id), 
	CONSTRAINT uq_policy_key UNIQUE ("key")
);
INSERT INTO "policy" VALUES(1,'2928d85d07e5b22dad6b41668929ec26','{"warmup_ms":2.0,"min_samples":3,"max_samples":31,"budget_ms":12.0,"precision":0.01,"stop_factor":1.5,"sample_us":300.0,"cache":"cold","verify":true,"draws":1,"repeats":2,"seed":0}');
CREATE TABLE problem (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	fields JSON NOT NULL, 
	CONSTRAINT pk_problem PRIMARY KEY (id), 
	CONSTRAINT uq_problem_key UNIQUE ("key")
);
INSERT INTO "problem" VALUES(1,'954b99baccac3ae07f28c09900cad013','{"m":64,"n":64,"k":64,"dtype":"bf16"}');
INSERT INTO "problem" VALUES(2,'e17426360f593f268c3b76d0f1ec3142','{"m":128,"n":64,"k":64,"dtype":"bf16"}');
CREATE TABLE reading (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	config_id INTEGER NOT NULL, 
	"after" INTEGER NOT NULL, 
	finished_at TEXT NOT NULL, 
	median_ns DOUBLE NOT NULL, 
	spread DOUBLE NOT NULL, 
	samples_ns JSON NOT NULL, 
	launches_per_sample INTEGER NOT NULL, 
	sm_clock_mhz INTEGER, 
	power_w DOUBLE, 
	temperature_c INTEGER, 
	CONSTRAINT pk_reading PRIMARY KEY (id), 
	CONSTRAINT fk_reading_study_id_study FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT fk_reading_context_id_context FOREIGN KEY(context_id) REFERENCES context (id), 
	CONSTRAINT fk_reading_config_id_config FOREIGN KEY(config_id) REFERENCES config (id)
);
INSERT INTO "reading" VALUES(1,1,1,1,5,'2026-01-02T03:22:29.273702Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55);
INSERT INTO "reading" VALUES(2,1,2,1,5,'2026-01-02T03:22:29.328189Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	spec JSON NOT NULL, 
	sampler TEXT NOT NULL, 
	seed BIGINT NOT NULL, 
	created_at TEXT NOT NULL, 
	CONSTRAINT pk_study PRIMARY KEY (id), 
	CONSTRAINT uq_study_name UNIQUE (name)
);
INSERT INTO "study" VALUES(1,'first','{"kernel":"gemm"}','tpe',7,'2026-01-02T03:22:29.117801Z');
CREATE TABLE toolchain (
	id INTEGER NOT NULL, 
	"key" VARCHAR(32) NOT NULL, 
	compiler TEXT NOT NULL, 
	version TEXT NOT NULL, 
	CONSTRAINT pk_toolchain PRIMARY KEY (id), 
	CONSTRAINT uq_toolchain_key UNIQUE ("key")
);
INSERT INTO "toolchain" VALUES(1,'d32c6d9ac42be234cb4a052692bfc0ba','nvrtc','13.0');
CREATE TABLE trial (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	context_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	config_id INTEGER NOT NULL, 
	status TEXT NOT NULL, 
	message TEXT NOT NULL, 
	verified BOOLEAN NOT NULL, 
	finished_at TEXT NOT NULL, 
	median_ns DOUBLE, 
	spread DOUBLE, 
	samples_ns JSON, 
	launches_per_sample INTEGER, 
	sm_clock_mhz INTEGER, 
	power_w DOUBLE, 
	temperature_c INTEGER, 
	registers INTEGER, 
	spill_bytes INTEGER, 
	static_shared_bytes INTEGER, 
	warnings JSON, 
	binary_key TEXT NOT NULL, 
	compile_ns BIGINT NOT NULL, 
	device_ns BIGINT NOT NULL, 
	CONSTRAINT pk_trial PRIMARY KEY (id), 
	CONSTRAINT fk_trial_study_id_study FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT fk_trial_context_id_context FOREIGN KEY(context_id) REFERENCES context (id), 
	CONSTRAINT fk_trial_config_id_config FOREIGN KEY(config_id) REFERENCES config (id), 
	CONSTRAINT uq_trial_study_id_context_id_number UNIQUE (study_id, context_id, number), 
	CONSTRAINT uq_trial_study_id_context_id_config_id UNIQUE (study_id, context_id, config_id), 
	CONSTRAINT ck_trial_status CHECK (status IN ('ok', 'constraint', 'compile_error', 'compile_timeout', 'resources', 'incorrect', 'nondeterministic', 'runtime_error', 'timeout', 'crashed', 'oom', 'bad_measurement', 'stopped_early')), 
	CONSTRAINT ck_trial_ok_has_median CHECK (status <> 'ok' OR median_ns IS NOT NULL), 
	CONSTRAINT ck_trial_median_ns CHECK (median_ns > 0), 
	CONSTRAINT ck_trial_number CHECK (number >= 0), 
	CONSTRAINT ck_trial_compile_ns CHECK (compile_ns >= 0), 
	CONSTRAINT ck_trial_device_ns CHECK (device_ns >= 0)
);
INSERT INTO "trial" VALUES(1,1,1,0,1,'ok','',1,'2026-01-02T03:22:29.143739Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55,128,0,1024,'["C7510"]','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',123456789,12345678);
INSERT INTO "trial" VALUES(2,1,1,1,2,'ok','',1,'2026-01-02T03:22:29.239407Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55,128,0,1024,'["C7510"]','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',123456789,12345678);
INSERT INTO "trial" VALUES(3,1,1,2,3,'resources','needs 300 KiB of shared memory',0,'2026-01-02T03:22:29.241419Z',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
INSERT INTO "trial" VALUES(4,1,2,0,1,'ok','',1,'2026-01-02T03:22:29.289340Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55,128,0,1024,'["C7510"]','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',123456789,12345678);
INSERT INTO "trial" VALUES(5,1,2,1,2,'ok','',1,'2026-01-02T03:22:29.301745Z',1000.0,0.006,'[995,996,997,998,999,1000,1001,1002,1003,1004,1005]',7,1980,651.25,55,128,0,1024,'["C7510"]','cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd',123456789,12345678);
INSERT INTO "trial" VALUES(6,1,2,2,3,'resources','needs 300 KiB of shared memory',0,'2026-01-02T03:22:29.302642Z',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,0);
CREATE INDEX ix_trial_context_id ON trial (context_id);
CREATE VIEW trial_flat AS
SELECT
    trial.id AS trial_id,
    study.name AS study,
    kernel_source.name AS kernel,
    problem.fields AS problem,
    device.name AS device,
    trial.number AS number,
    config.fields AS config,
    trial.status AS status,
    trial.message AS message,
    trial.verified AS verified,
    trial.median_ns AS median_ns,
    trial.spread AS spread,
    trial.samples_ns AS samples_ns,
    trial.launches_per_sample AS launches_per_sample,
    trial.sm_clock_mhz AS sm_clock_mhz,
    trial.power_w AS power_w,
    trial.temperature_c AS temperature_c,
    trial.registers AS registers,
    trial.spill_bytes AS spill_bytes,
    trial.static_shared_bytes AS static_shared_bytes,
    trial.warnings AS warnings,
    trial.compile_ns AS compile_ns,
    trial.device_ns AS device_ns,
    trial.finished_at AS finished_at,
    context.replayed_from AS replayed_from,
    toolchain.compiler AS compiler,
    toolchain.version AS compiler_version,
    device.driver AS driver,
    policy.fields AS policy,
    kernel_source.digest AS source_digest,
    trial.binary_key AS binary_key,
    problem.key AS problem_key,
    config.key AS config_key,
    device.key AS device_key,
    policy.key AS policy_key,
    trial.context_id AS context_id
FROM trial
JOIN study ON study.id = trial.study_id
JOIN context ON context.id = trial.context_id
JOIN config ON config.id = trial.config_id
JOIN kernel_source ON kernel_source.id = context.kernel_source_id
JOIN problem ON problem.id = context.problem_id
JOIN device ON device.id = context.device_id
JOIN toolchain ON toolchain.id = context.toolchain_id
JOIN policy ON policy.id = context.policy_id;
CREATE VIEW best_config AS
SELECT trial_flat.*
FROM trial_flat
JOIN (
    SELECT
        id,
        ROW_NUMBER() OVER (PARTITION BY context_id ORDER BY median_ns, id) AS place
    FROM trial
    WHERE status = 'ok' AND verified
) AS ranked ON ranked.id = trial_flat.trial_id
WHERE ranked.place = 1;
CREATE INDEX ix_finalist_context_id ON finalist (context_id);
CREATE INDEX ix_reading_context_id ON reading (context_id);
COMMIT;

BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0006');
CREATE TABLE annotation (
	id VARCHAR(36) NOT NULL, 
	series_id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	label_id INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	geometry JSON NOT NULL, 
	comment VARCHAR NOT NULL, 
	confidence DOUBLE, 
	author VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	decided_at INTEGER NOT NULL, 
	known_at INTEGER NOT NULL, 
	revision INTEGER NOT NULL, 
	created INTEGER NOT NULL, 
	updated INTEGER NOT NULL, 
	draft JSON NOT NULL, status VARCHAR DEFAULT 'done' NOT NULL, updated_by VARCHAR DEFAULT '' NOT NULL, entry_decided_at INTEGER, review JSON, 
	CONSTRAINT pk_annotation PRIMARY KEY (id), 
	CONSTRAINT fk_annotation_label_id_label FOREIGN KEY(label_id) REFERENCES label (id), 
	CONSTRAINT fk_annotation_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE blind_pass (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	hides VARCHAR NOT NULL, 
	started INTEGER NOT NULL, 
	ended INTEGER, 
	CONSTRAINT pk_blind_pass PRIMARY KEY (id), 
	CONSTRAINT fk_blind_pass_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE candle_file (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	level_ms INTEGER NOT NULL, 
	first INTEGER NOT NULL, 
	last INTEGER NOT NULL, 
	rows INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_candle_file PRIMARY KEY (id), 
	CONSTRAINT fk_candle_file_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE, 
	CONSTRAINT uq_candle_file_series_id_level_ms_first UNIQUE (series_id, level_ms, first)
);
CREATE TABLE candle_hour (
	run_id INTEGER NOT NULL, 
	hour INTEGER NOT NULL, 
	last_seq INTEGER NOT NULL, 
	body JSON NOT NULL, 
	CONSTRAINT pk_candle_hour PRIMARY KEY (run_id, hour), 
	CONSTRAINT fk_candle_hour_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);
CREATE TABLE checked_mark (
	annotation_id VARCHAR(36) NOT NULL, 
	revision INTEGER NOT NULL, 
	confirmed BOOLEAN NOT NULL, 
	CONSTRAINT pk_checked_mark PRIMARY KEY (annotation_id), 
	CONSTRAINT fk_checked_mark_annotation_id_annotation FOREIGN KEY(annotation_id) REFERENCES annotation (id) ON DELETE CASCADE
);
CREATE TABLE checkpoint (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	model VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	step INTEGER NOT NULL, 
	data_cut INTEGER, 
	result BOOLEAN NOT NULL, 
	created INTEGER NOT NULL, 
	meta JSON NOT NULL, 
	CONSTRAINT pk_checkpoint PRIMARY KEY (id), 
	CONSTRAINT fk_checkpoint_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE, 
	CONSTRAINT fk_checkpoint_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE, 
	CONSTRAINT uq_checkpoint_run_id_name UNIQUE (run_id, name)
);
CREATE TABLE dataset (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	hash VARCHAR(64) NOT NULL, 
	created INTEGER NOT NULL, 
	kept BOOLEAN NOT NULL, 
	manifest JSON NOT NULL, version INTEGER, note VARCHAR DEFAULT '' NOT NULL, 
	CONSTRAINT pk_dataset PRIMARY KEY (id), 
	CONSTRAINT fk_dataset_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE event (
	run_id INTEGER NOT NULL, 
	seq INTEGER NOT NULL, 
	time INTEGER NOT NULL, 
	type VARCHAR NOT NULL, 
	body JSON NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (run_id, seq), 
	CONSTRAINT fk_event_run_id_run FOREIGN KEY(run_id) REFERENCES run (id) ON DELETE CASCADE
);
CREATE TABLE import_report (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	created INTEGER NOT NULL, 
	report JSON NOT NULL, 
	CONSTRAINT pk_import_report PRIMARY KEY (id), 
	CONSTRAINT fk_import_report_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE label (
	id INTEGER NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	colour VARCHAR(7) NOT NULL, 
	"key" VARCHAR(1), 
	layer VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	archived BOOLEAN NOT NULL, 
	CONSTRAINT pk_label PRIMARY KEY (id), 
	CONSTRAINT fk_label_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id) ON DELETE CASCADE, 
	CONSTRAINT uq_label_label_set_id_name UNIQUE (label_set_id, name)
);
INSERT INTO "label" VALUES(1,1,'Long','#009e73','1','default',0,0);
CREATE TABLE label_set (
	id INTEGER NOT NULL, 
	name VARCHAR NOT NULL, 
	revision INTEGER NOT NULL, "exclusive" JSON DEFAULT '[]' NOT NULL, 
	CONSTRAINT pk_label_set PRIMARY KEY (id)
);
INSERT INTO "label_set" VALUES(1,'Default',1,'[]');
CREATE TABLE lesson (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	mode VARCHAR NOT NULL, 
	cursor INTEGER, 
	request JSON NOT NULL, 
	learnt JSON NOT NULL, 
	created INTEGER NOT NULL, 
	CONSTRAINT pk_lesson PRIMARY KEY (id), 
	CONSTRAINT fk_lesson_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE replay_session (
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	cursor INTEGER NOT NULL, 
	furthest INTEGER NOT NULL, 
	started INTEGER NOT NULL, 
	random BOOLEAN NOT NULL, 
	hide_price BOOLEAN NOT NULL, 
	CONSTRAINT pk_replay_session PRIMARY KEY (series_id, author), 
	CONSTRAINT fk_replay_session_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE reviewed_range (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	CONSTRAINT pk_reviewed_range PRIMARY KEY (id), 
	CONSTRAINT fk_reviewed_range_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE run (
	id INTEGER NOT NULL, 
	mode VARCHAR NOT NULL, 
	series_id INTEGER NOT NULL, 
	dataset_id INTEGER, 
	state VARCHAR NOT NULL, 
	cause VARCHAR, 
	config JSON NOT NULL, 
	created INTEGER NOT NULL, 
	started INTEGER, 
	ended INTEGER, 
	summary JSON NOT NULL, note VARCHAR, 
	CONSTRAINT pk_run PRIMARY KEY (id), 
	CONSTRAINT fk_run_dataset_id_dataset FOREIGN KEY(dataset_id) REFERENCES dataset (id), 
	CONSTRAINT fk_run_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE series (
	id INTEGER NOT NULL, 
	symbol VARCHAR NOT NULL, 
	timeframe VARCHAR NOT NULL, 
	source VARCHAR NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	zone VARCHAR NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	created INTEGER NOT NULL, 
	deleted INTEGER, 
	facts JSON NOT NULL, 
	CONSTRAINT pk_series PRIMARY KEY (id), 
	CONSTRAINT fk_series_label_set_id_label_set FOREIGN KEY(label_set_id) REFERENCES label_set (id)
);
INSERT INTO "series" VALUES(1,'KEPT','1m','upload',0,'UTC',1,0,NULL,'{"precision": 1}');
CREATE TABLE setting (
	name VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	CONSTRAINT pk_setting PRIMARY KEY (name)
);
INSERT INTO "setting" VALUES('default_label_set',1);
CREATE TABLE suggestion (
	id VARCHAR(36) NOT NULL, 
	series_id INTEGER NOT NULL, 
	lesson_id INTEGER NOT NULL, 
	kind VARCHAR NOT NULL, 
	label_id INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	geometry JSON NOT NULL, 
	probability DOUBLE, 
	fate VARCHAR NOT NULL, 
	decided_by VARCHAR, 
	decided INTEGER, 
	created INTEGER NOT NULL, 
	CONSTRAINT pk_suggestion PRIMARY KEY (id), 
	CONSTRAINT fk_suggestion_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE, 
	CONSTRAINT fk_suggestion_lesson_id_lesson FOREIGN KEY(lesson_id) REFERENCES lesson (id) ON DELETE CASCADE, 
	CONSTRAINT fk_suggestion_label_id_label FOREIGN KEY(label_id) REFERENCES label (id)
);
CREATE TABLE tail_candle (
	series_id INTEGER NOT NULL, 
	time INTEGER NOT NULL, 
	open DOUBLE NOT NULL, 
	high DOUBLE NOT NULL, 
	low DOUBLE NOT NULL, 
	close DOUBLE NOT NULL, 
	volume DOUBLE, 
	CONSTRAINT pk_tail_candle PRIMARY KEY (series_id, time), 
	CONSTRAINT fk_tail_candle_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
INSERT INTO "tail_candle" VALUES(1,60000,1.0,2.0,0.5,1.5,NULL);
CREATE TABLE undo_step (
	id INTEGER NOT NULL, 
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	gesture VARCHAR(36), 
	"before" JSON NOT NULL, 
	"after" JSON NOT NULL, 
	undone BOOLEAN NOT NULL, 
	created INTEGER NOT NULL, ranges JSON, fates JSON, 
	CONSTRAINT pk_undo_step PRIMARY KEY (id), 
	CONSTRAINT fk_undo_step_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE TABLE view_state (
	series_id INTEGER NOT NULL, 
	author VARCHAR NOT NULL, 
	place VARCHAR NOT NULL, 
	value JSON NOT NULL, 
	updated INTEGER NOT NULL, 
	CONSTRAINT pk_view_state PRIMARY KEY (series_id, author, place), 
	CONSTRAINT fk_view_state_series_id_series FOREIGN KEY(series_id) REFERENCES series (id) ON DELETE CASCADE
);
CREATE INDEX ix_label_label_set_id ON label (label_set_id);
CREATE INDEX ix_annotation_series_id_start ON annotation (series_id, start);
CREATE INDEX ix_candle_file_series_id_level_ms ON candle_file (series_id, level_ms);
CREATE INDEX ix_dataset_series_id ON dataset (series_id);
CREATE INDEX ix_import_report_series_id ON import_report (series_id);
CREATE INDEX ix_import_report_sha256 ON import_report (sha256);
CREATE INDEX ix_undo_step_series_id_author_undone ON undo_step (series_id, author, undone);
CREATE INDEX ix_run_series_id ON run (series_id);
CREATE INDEX ix_checkpoint_series_id ON checkpoint (series_id);
CREATE INDEX ix_reviewed_range_series_id ON reviewed_range (series_id);
CREATE INDEX ix_blind_pass_series_id ON blind_pass (series_id);
CREATE INDEX ix_lesson_series_id ON lesson (series_id);
CREATE INDEX ix_suggestion_lesson_id ON suggestion (lesson_id);
CREATE INDEX ix_suggestion_series_id_fate_start ON suggestion (series_id, fate, start);
CREATE INDEX ix_event_run_id_type_seq ON event (run_id, type, seq);
COMMIT;

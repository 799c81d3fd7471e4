-- A label store of version 1, as it was written then.
PRAGMA journal_mode = WAL;
BEGIN TRANSACTION;
CREATE TABLE assay_version (version INTEGER NOT NULL PRIMARY KEY, at VARCHAR(40) NOT NULL);
INSERT INTO "assay_version" VALUES(1,'2026-11-30T13:14:58+00:00');
CREATE TABLE candidates (pool_id VARCHAR(64) NOT NULL REFERENCES pools (id), position INTEGER NOT NULL,
    doc_id TEXT NOT NULL, start BIGINT NOT NULL, "end" BIGINT NOT NULL, text TEXT NOT NULL, ranks JSON NOT NULL,
    PRIMARY KEY (pool_id, position));
INSERT INTO "candidates" VALUES('p1',1,'returns.md',0,30,'Refunds arrive within 14 days.','{"bm25": 3}');
CREATE TABLE decisions (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, subject TEXT NOT NULL, verdict TEXT NOT NULL, by TEXT NOT NULL,
    why TEXT NOT NULL, query JSON, grade REAL, undoes VARCHAR(64) REFERENCES decisions (id));
CREATE TABLE drafts (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, job TEXT NOT NULL, query JSON NOT NULL, evidence JSON NOT NULL, notes JSON NOT NULL,
    reply_id VARCHAR(64) REFERENCES replies (id), by TEXT NOT NULL);
CREATE TABLE edits (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, query_id TEXT NOT NULL, action TEXT NOT NULL, by TEXT NOT NULL, why TEXT NOT NULL,
    query JSON, anchor JSON, undoes VARCHAR(64) REFERENCES edits (id));
INSERT INTO "edits" VALUES(1,'e1','2026-11-30T13:00:00.000001+00:00','q1','put','ada','','{"id": "q1", "query": "When do refunds arrive?", "anchors": [{"doc": "returns.md", "quote": "within 14 days"}]}',NULL,NULL);
CREATE TABLE judgements (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, query_id TEXT NOT NULL, doc_id TEXT NOT NULL, start BIGINT NOT NULL,
    "end" BIGINT NOT NULL, grade REAL, shown TEXT NOT NULL, why TEXT NOT NULL, by TEXT NOT NULL,
    origin TEXT NOT NULL, model TEXT, pool_id VARCHAR(64) REFERENCES pools (id), margin REAL,
    elapsed_ms REAL, undoes VARCHAR(64) REFERENCES judgements (id));
INSERT INTO "judgements" VALUES(1,'j1','2026-11-30T13:00:00.000001+00:00','q1','returns.md',0,30,2.0,'Refunds arrive within 14 days.','states the term','ada','person',NULL,'p1',NULL,NULL,NULL);
INSERT INTO "judgements" VALUES(2,'j2','2026-11-30T13:00:00.000002+00:00','q1','returns.md',0,30,1.0,'Refunds arrive within 14 days.','','tale/1a2b','judge','tale','p1',0.8,NULL,NULL);
INSERT INTO "judgements" VALUES(3,'j3','2026-11-30T13:00:00.000003+00:00','q1','returns.md',0,30,NULL,'Refunds arrive within 14 days.','','ada','person',NULL,'p1',NULL,NULL,'j1');
CREATE TABLE looks (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, what TEXT NOT NULL, "of" TEXT NOT NULL, by TEXT NOT NULL, facts JSON NOT NULL);
CREATE TABLE pools (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, name TEXT NOT NULL, query_id TEXT NOT NULL, query TEXT NOT NULL, kind TEXT NOT NULL,
    seed BIGINT NOT NULL, depth BIGINT NOT NULL, sources JSON NOT NULL, by TEXT NOT NULL);
INSERT INTO "pools" VALUES(1,'p1','2026-11-30T13:00:00.000001+00:00','may','q1','When do refunds arrive?','unspecified',0,0,'["bm25"]','');
CREATE TABLE replies (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, job TEXT NOT NULL, task TEXT NOT NULL, attempt BIGINT NOT NULL,
    model TEXT NOT NULL, request TEXT NOT NULL, text TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL,
    prompt_tokens BIGINT NOT NULL, completion_tokens BIGINT NOT NULL, elapsed_ms REAL);
CREATE TABLE syncs (seq INTEGER PRIMARY KEY AUTOINCREMENT, id VARCHAR(64) NOT NULL UNIQUE, at VARCHAR(40) NOT NULL, direction TEXT NOT NULL, file TEXT NOT NULL, by TEXT NOT NULL, lines JSON NOT NULL);
INSERT INTO "syncs" VALUES(1,'ce59091521a547e18434a2eb9b70bad4','2026-11-30T13:14:58.993652+00:00','export','golden.jsonl','ada','{"q1": "{}"}');
CREATE INDEX ix_replies_job ON replies (job);
CREATE INDEX ix_replies_task ON replies (task);
CREATE INDEX ix_pools_name ON pools (name);
CREATE INDEX ix_pools_query_id ON pools (query_id);
CREATE INDEX ix_judgements_query_id ON judgements (query_id);
CREATE INDEX ix_judgements_by ON judgements (by);
CREATE INDEX ix_drafts_job ON drafts (job);
CREATE INDEX ix_decisions_subject ON decisions (subject);
CREATE INDEX ix_edits_query_id ON edits (query_id);
CREATE INDEX ix_looks_what ON looks (what);
CREATE TRIGGER replies_no_update BEFORE UPDATE ON replies BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER replies_no_delete BEFORE DELETE ON replies BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER pools_no_update BEFORE UPDATE ON pools BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER pools_no_delete BEFORE DELETE ON pools BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER candidates_no_update BEFORE UPDATE ON candidates BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER candidates_no_delete BEFORE DELETE ON candidates BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER judgements_no_update BEFORE UPDATE ON judgements BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER judgements_no_delete BEFORE DELETE ON judgements BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER drafts_no_update BEFORE UPDATE ON drafts BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER drafts_no_delete BEFORE DELETE ON drafts BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER decisions_no_update BEFORE UPDATE ON decisions BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER decisions_no_delete BEFORE DELETE ON decisions BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER edits_no_update BEFORE UPDATE ON edits BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER edits_no_delete BEFORE DELETE ON edits BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER looks_no_update BEFORE UPDATE ON looks BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER looks_no_delete BEFORE DELETE ON looks BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER syncs_no_update BEFORE UPDATE ON syncs BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
CREATE TRIGGER syncs_no_delete BEFORE DELETE ON syncs BEGIN SELECT RAISE(ABORT, 'labels are appended, never changed'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('pools',1);
INSERT INTO "sqlite_sequence" VALUES('judgements',3);
INSERT INTO "sqlite_sequence" VALUES('edits',1);
INSERT INTO "sqlite_sequence" VALUES('syncs',1);
COMMIT;

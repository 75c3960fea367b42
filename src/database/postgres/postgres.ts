import { Kysely, sql } from 'kysely'
import { type ClientBase, DatabaseError, Pool, type PoolConfig, TypeOverrides } from 'pg'
import { createDatabase, type Database } from '../database.ts'
import type { Fault } from '../repeats.ts'
import { LOCK_WAIT_MS } from '../lock-waits.ts'
import { createRunBatch, postgresDialect } from './connection.ts'
import { migrateAlone, type PatientDatabase } from './migration.ts'
import type { Tables } from '../schema.ts'
import { assertFit, type SessionSettings } from './server-settings.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string
  readonly poolSize?: number
  /** Milliseconds before any wait ends with `unavailable`, except in a migration. */
  readonly timeoutMs?: number
}

const DEFAULT_POOL_SIZE = 10
const DEFAULT_TIMEOUT_MS = 10_000

/** On a read-only server even reads reject with `unavailable`: a standby may lack an acknowledged change. */
export async function openPostgres(options: PostgresOptions): Promise<Database> {
  const pool = createPool(options, { isPatient: false })
  const isFailure = (error: unknown): boolean => classify(error) === 'failure'
  return createDatabase({
    kysely: new Kysely<Tables>({ dialect: postgresDialect({ pool, isFailure }) }),
    runBatch: createRunBatch({ pool, isFailure }),
    // A scalar subselect is evaluated once and, unlike the bare volatile function, can bound an index scan.
    now: sql<number>`(SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT))`,
    forUpdate: sql`FOR UPDATE`,
    // A write without a row: its COMMIT waits like any other, and needs no lock.
    confirmation: sql`SELECT pg_logical_emit_message(true, 'cloud_repository_confirm', '')`,
    bytewise: sql`"C"`,
    indexOf: (text, part) => sql<number>`strpos(${text}, ${part})`,
    textList: {
      has: (list, column) => sql<boolean>`${column} = ANY(CAST(${list} AS TEXT[]))`,
      valueOf: (texts) => texts,
    },
    clustered: sql``,
    createTrigger: ({ name, event, when, statement }) => [
      sql.raw(`CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN ${statement}; RETURN NULL; END $$`),
      sql.raw(`CREATE TRIGGER ${name} AFTER ${event} FOR EACH ROW WHEN (${when})
        EXECUTE FUNCTION ${name}()`),
    ],
    keepIndexOrder: sql`
      SELECT set_config('enable_sort', 'off', true), set_config('enable_incremental_sort', 'off', true)
    `,
    // Changes wait for one row; the second travels to the server while the first commits.
    changesPerUser: 2,
    migrateAlone: (work) => migrateAlone(() => openPatient(options), work),
    connections: () => ({
      limit: pool.options.max,
      open: pool.totalCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    measureFreePages: undefined,
    copyTo: undefined,
    classify,
    lockTimeoutMs: options.timeoutMs,
    release: async () => {
      if (!pool.ended) await pool.end()
    },
  })
}

/** Statements have no deadline here; TCP keep-alive detects a lost server, and a lost client. */
function openPatient(options: PostgresOptions): PatientDatabase {
  const pool = createPool({ ...options, poolSize: MIGRATING_CONNECTIONS }, { isPatient: true })
  // A connection is discarded after any error.
  const dialect = postgresDialect({ pool, isFailure: () => true })
  return {
    kysely: new Kysely<Tables>({ dialect }),
    isLockFailure,
    [Symbol.asyncDispose]: () => pool.end(),
  }
}

/** One holds the lock, one works, and the migrator may read on a third. */
const MIGRATING_CONNECTIONS = 3

function createPool(
  options: PostgresOptions,
  { isPatient }: { readonly isPatient: boolean },
): Pool {
  const { url, poolSize = DEFAULT_POOL_SIZE, timeoutMs = DEFAULT_TIMEOUT_MS } = options
  const pool = new Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'cloud-repository',
    keepAlive: true,
    keepAliveInitialDelayMillis: timeoutMs,
    pipeline: true,
    connectionTimeoutMillis: timeoutMs,
    ...(isPatient ? {} : deadlines(timeoutMs)),
    types: createTypes(),
    verify: (client, done) => void prepareSession(client, isPatient).then(() => done(), done),
  })
  // A broken connection leaves the pool; without listeners its error would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

// A wait for a lock is repeated (`lock-waits.ts`). Of the other limits the server's is the first, so that its reason
// arrives; the client's is for a lost server.
function deadlines(timeoutMs: number): PoolConfig {
  return {
    lock_timeout: LOCK_WAIT_MS,
    statement_timeout: Math.ceil(timeoutMs * 0.8),
    idle_in_transaction_session_timeout: timeoutMs,
    query_timeout: timeoutMs,
  }
}

// - Forbids sequential scans: prepared statements keep the plan made while the tables were small. A statement without
//   an index then looks so costly that PostgreSQL would JIT-compile it, so JIT is off.
// - Refuses a read-only server, like libpq's `target_session_attrs=read-write`. A server that becomes a standby ends
//   its sessions first; 25006 within a session counts as a failure.
// - Has the server notice within a minute that our machine is gone. By its system's defaults it takes two hours, and
//   until then the session keeps its locks: that of a migration would keep every instance from starting.
// - Sends warnings, such as that of a COMMIT whose wait for a standby was cancelled.
// - Refuses a database that cannot hold all text, and sets how text is sent, whatever the role or URL says.
// - Forbids `synchronous_commit = off`: an acknowledged commit is on disk. Any further wait is the operator's choice.
async function prepareSession(client: ClientBase, isPatient: boolean): Promise<void> {
  const { rows } = await client.query<SessionSettings>(PREPARE_SESSION)
  assertFit(rows[0])
  if (isPatient) await client.query(NO_DEADLINES)
}

const PREPARE_SESSION = `
  SELECT current_setting('transaction_read_only') AS read_only,
    current_setting('server_encoding') AS server_encoding,
    current_setting('session_replication_role') AS replication_role,
    set_config('client_encoding', 'UTF8', false), set_config('standard_conforming_strings', 'on', false),
    CASE current_setting('synchronous_commit')
      WHEN 'off' THEN set_config('synchronous_commit', 'on', false)
    END,
    set_config('enable_seqscan', 'off', false), set_config('jit', 'off', false),
    set_config('client_min_messages', 'warning', false),
    set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '60000', false)`

/** Set explicitly, because the server or the role may have other defaults. */
const NO_DEADLINES = `
  SELECT set_config('lock_timeout', '0', false), set_config('statement_timeout', '0', false),
    set_config('idle_in_transaction_session_timeout', '0', false)`

const INT8 = 20

// Every BIGINT of the schema is at most 2^53 - 1. Set per pool: other users of `pg` keep strings.
function createTypes(): TypeOverrides {
  const types = new TypeOverrides()
  types.setTypeParser(INT8, Number)
  return types
}

/** SQLSTATEs: PostgreSQL documentation, appendix "PostgreSQL Error Codes". */
const REPEAT_STATES: ReadonlySet<string> = new Set([
  '40001', // serialization_failure
  '40P01', // deadlock_detected
])

const DEFECT_CLASSES: ReadonlySet<string> = new Set([
  '22', // data exception
  '23', // integrity constraint violation
  '42', // syntax error or access rule violation
])

const LOCK_NOT_AVAILABLE = '55P03'

const LOCK_STATES: ReadonlySet<string | undefined> = new Set([
  LOCK_NOT_AVAILABLE,
  '40P01', // deadlock_detected
])

function isLockFailure(error: unknown): boolean {
  return error instanceof DatabaseError && LOCK_STATES.has(error.code)
}

function classify(error: unknown): Fault {
  if (error instanceof TypeError || error instanceof RangeError) return 'defect'
  if (!(error instanceof DatabaseError) || error.code === undefined) return 'failure'
  if (REPEAT_STATES.has(error.code)) return 'repeat'
  if (error.code === LOCK_NOT_AVAILABLE) return 'locked'
  return DEFECT_CLASSES.has(error.code.slice(0, 2)) ? 'defect' : 'failure'
}

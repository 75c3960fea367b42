import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findPostgresProgram } from '../support/servers/postgres-program.ts'

const execute = promisify(execFile)

/** The database as SQL that a connection of its own can run at once, on this or another version of PostgreSQL. */
export async function dumpPostgres(url: string): Promise<string> {
  const words = ['--no-owner', '--no-privileges', '--inserts', '--dbname', url]
  const { stdout } = await execute(await findPostgresProgram('pg_dump'), words, {
    maxBuffer: 16 * 2 ** 20,
  })
  return stdout.replaceAll(NOT_SQL_OR_NEW, '')
}

/** Comments, empty lines, commands of psql, and a setting that PostgreSQL 16 does not know. */
const NOT_SQL_OR_NEW = /^(?:--.*|\\.*|SET transaction_timeout.*)?\n/gm

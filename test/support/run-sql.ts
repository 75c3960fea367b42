import { Client, type QueryResultRow } from 'pg'

/** Runs one statement on a connection of its own, and returns its rows. */
export async function runSql<R extends QueryResultRow>(
  url: string,
  statement: string,
): Promise<R[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query<R>(statement)).rows
  } finally {
    await client.end()
  }
}

import { DatabaseSync } from 'node:sqlite'

/** The database as SQL: tables, rows, then indexes and triggers. */
export function dumpSqlite(file: string): string {
  using database = new DatabaseSync(file, { readOnly: true })
  const read = (sql: string) => database.prepare(sql).all() as Record<string, string>[]
  const schema = read(
    `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
     ORDER BY rowid`,
  )
  const definitions = (isTable: boolean) =>
    schema.filter(({ type }) => (type === 'table') === isTable).map(({ sql }) => `${sql};`)
  const rows = schema
    .filter(({ type }) => type === 'table')
    .flatMap(({ name = '' }) => {
      const columns = read(`SELECT name FROM pragma_table_info('${name}')`)
      const values = columns.map((column) => `quote("${column['name']}")`).join(` || ',' || `)
      const lines = read(
        `SELECT 'INSERT INTO "${name}" VALUES (' || ${values} || ');' AS line FROM "${name}"`,
      )
      return lines.map(({ line = '' }) => line)
    })
  return `${[...definitions(true), ...rows, ...definitions(false)].join('\n')}\n`
}

/** Makes the database of a dump. */
export function restoreSqlite(file: string, dump: string): void {
  using database = new DatabaseSync(file, { enableForeignKeyConstraints: false })
  database.exec(`BEGIN; ${dump} COMMIT;`)
}

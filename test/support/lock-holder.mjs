// Holds the write lock of the SQLite database that it is given until its input ends.
import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2] ?? '', { timeout: 5_000 })
database.exec('BEGIN IMMEDIATE')
process.stdout.write('held\n')
process.stdin
  .on('data', () => undefined)
  .once('end', () => {
    database.exec('COMMIT')
    database.close()
  })

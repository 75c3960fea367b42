import { parseUserId } from '../../../src/core/users/user-id.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { openSqlite } from '../../../src/database/sqlite/sqlite.ts'
import { createUserStore } from '../../../src/database/users/user-store.ts'

// Makes 50 users at once in the database file that it is given, and says when it begins and when all are there.
const database = await openSqlite({ file: process.argv[2] ?? '' })
await migrate(database)
const users = createUserStore(database, { baseCapacity: 0 })
const ids = Array.from({ length: 50 }, (_, index) => parseUserId(`user-${index}`))
process.stdout.write('begin\n')
await Promise.all(ids.map((id) => users.createUser(id)))
process.stdout.write('done\n')
await database.close()

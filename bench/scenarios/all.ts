import type { Scenario } from '../scenario.ts'
import { instances } from './instances.ts'
import { largeFiles } from './large-files.ts'
import { list } from './list.ts'
import { manyFiles } from './many-files.ts'
import { oneName } from './one-name.ts'
import { resumable } from './resumable.ts'
import { smallFiles } from './small-files.ts'
import { start } from './start.ts'
import { staticServer } from './static-server.ts'
import { users } from './users.ts'

/** In the order in which they are measured. */
export const SCENARIOS: readonly Scenario[] = [
  start,
  ...smallFiles,
  oneName,
  list,
  users,
  instances,
  staticServer,
  ...manyFiles,
  ...largeFiles,
  ...resumable,
]

/** What `--quick` measures. */
export const QUICK = ['upload-form-4k', 'download-4k']

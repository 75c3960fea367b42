import type { RecordedChange } from '../../../src/core/changes/change-ledger.ts'
import type { File } from '../../../src/core/files/file.ts'
import { callerOf } from '../../../src/core/users/caller.ts'
import { readUsage } from '../../support/read-usage.ts'
import { feedFaults } from '../../support/replay-changes.ts'
import { sha256 } from './content.ts'
import type { Tally } from './tally.ts'
import type { World, WorldUser } from './world.ts'

export interface SettledUser {
  readonly user: WorldUser
  /** All that the user has now. */
  readonly files: readonly File[]
  readonly tally: Tally
}

/** Holds the whole feed of a user against the files and against the acknowledged uploads (I14). */
export async function checkFeed(world: World, { user, files, tally }: SettledUser): Promise<void> {
  const { userId } = user
  const report = (text: string): void => tally.report('feed', `${userId}: ${text}`)
  const { changes, latest } = await readFeed(world, user)
  tally.checkedChanges += changes.length
  const usage = await readUsage(world.service.ledger, userId)
  if (usage === undefined) throw new Error(`${userId} is gone`)
  for (const fault of feedFaults({ changes, files, usage })) report(fault)
  const last = changes.at(-1)?.sequence ?? 0
  if (latest !== last) report(`${latest} changes are counted, and the last one is ${last}`)
  for (const [index, { sequence, previousAt }] of changes.entries()) {
    const at = changes[index - 1]?.at ?? 0
    if (previousAt !== at)
      report(`change ${sequence} is recorded after one of ${previousAt}, not ${at}`)
  }
  const written = changes.flatMap((change) =>
    change.type === 'file.created' || change.type === 'file.replaced' ? change.file.sha256 : [],
  )
  for (const { digest } of tally.acknowledgedContents.filter((each) => each.userId === userId)) {
    const times = written.filter((each) => each === digest).length
    const isRight = digest === EMPTY ? times > 0 : times === 1
    if (!isRight) report(`an acknowledged upload of ${digest} is ${times} changes`)
  }
}

/** The only content of several uploads. */
const EMPTY = sha256('')

/** From the cursor that was that of the present before the first upload. */
export async function readFeed({ service: { ledger } }: World, { userId }: WorldUser) {
  const account = await ledger.findAccount(userId)
  if (account === undefined) throw new Error(`${userId} is gone`)
  const caller = callerOf(account.user)
  const changes: RecordedChange[] = []
  for (;;) {
    const after = changes.at(-1)?.sequence ?? 0
    const page = await ledger.readChanges({ ...caller, after, limit: PAGE })
    if (page === undefined) throw new Error(`${userId} is gone`)
    if (page.changes.length === 0) return { changes, latest: page.latest.sequence }
    changes.push(...page.changes)
  }
}

const PAGE = 200

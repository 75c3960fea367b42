import type { Figures } from './measure/figures.ts'
import type { Servers } from './setup/servers.ts'
import type { StackName } from './setup/stack.ts'

export interface Scenario {
  readonly name: string
  /** What is done, and against what, in a line. */
  readonly title: string
  readonly stacks: readonly StackName[]
  /** At most this many rounds, where one takes long. */
  readonly maxRounds?: number
  /** Without a warm-up, for what is done once. */
  readonly isCold?: boolean
  /** Opened anew for each round, with empty data folders on both sides. */
  readonly isAnew?: boolean
  open(setting: Setting): Promise<Contest>
}

export interface Setting {
  readonly stack: StackName
  readonly servers: Servers
  /** How long a load lasts. */
  readonly seconds: number
  readonly profile: string | undefined
  /** Multiplies files of 64 MiB and more and series of 10,000 appends, for a run that only tries them out. */
  readonly scale: number
  /** What is acquired ends with it. */
  readonly opened: AsyncDisposableStack
}

/** What is measured in turns: the service, and what it is held against. */
export interface Contest {
  readonly baseline?: Side
  readonly subject: Side
  /** Both sides are the service, so that its CPU can be compared. */
  readonly comparesCpu?: boolean
}

export interface Side {
  /** Such as `MinIO`. */
  readonly name: string
  /** Does its work once, checks samples of the contents, and says what it took. Rounds before 1 do not count. */
  measure(round: number): Promise<Figures>
}

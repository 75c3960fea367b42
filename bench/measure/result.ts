import type { Outcome } from './contest.ts'
import type { StackName } from '../setup/stack.ts'

/** What became of a scenario on a stack. */
export interface Result {
  readonly scenario: string
  readonly title: string
  readonly stack: StackName
  /** `undefined` when it failed, as `reason` says. */
  readonly outcome?: Outcome
  readonly reason?: string
}

import type { UserAdmin } from '../../../packages/js/src/admin.ts'
import type { Page } from '../page.ts'
import type { UserRecord } from './user-record.ts'

/** Properties common to all sections of the record. */
export interface SectionProps {
  readonly page: Page
  readonly record: UserRecord
  /** Changes what belongs to the user. */
  readonly user: UserAdmin
  /** Called after a change, to read the record again in the background. */
  readonly onChange: () => void
}

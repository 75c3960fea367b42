import '../../shared/section.css'
import { useId } from 'preact/hooks'
import type { User } from '../../../packages/js/src/admin.ts'
import { operatorWords } from '../words.ts'
import { ShownName } from '../../shared/shown-name.tsx'
import { addressOf } from '../route.ts'
import { UseBar } from '../user-table.tsx'

export interface RankedUsersProps {
  readonly title: string
  /** The first one first. */
  readonly users: readonly User[]
}

export function RankedUsers({ title, users }: RankedUsersProps) {
  const id = useId()
  return (
    <section class="section" aria-labelledby={id}>
      <header class="section-head">
        <h3 id={id}>{title}</h3>
      </header>
      {users.length === 0 ? (
        <p class="quiet">{operatorWords.overview.noFiles}</p>
      ) : (
        <ol class="ranking">
          {users.map(({ user_id: userId, capacity }) => (
            <li key={userId}>
              <a class="name" href={addressOf(userId)} title={userId}>
                <ShownName name={userId} />
              </a>
              <UseBar figures={capacity} />
            </li>
          ))}
        </ol>
      )}
    </section>
  )
}

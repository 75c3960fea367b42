import { useEffect, useMemo, useState } from 'preact/hooks'
import type { IssuedOperator, Operator } from '../../../packages/js/src/admin.ts'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { formatTime } from '../../shared/format.ts'
import { ProblemNotice } from '../../shared/problem-notice.tsx'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { Page } from '../page.ts'
import { createWatched } from '../watched.ts'
import { operatorWords } from '../words.ts'
import { AddOperator } from './add-operator.tsx'
import { OperatorToken } from './operator-token.tsx'

const words = operatorWords.operators

/** All operators, of whom there are at most a hundred. */
export function OperatorsView({ page }: { readonly page: Page }) {
  const watched = useMemo(() => createWatched(read), [])
  const [isAdding, setAdding] = useState(false)
  const [added, setAdded] = useState<IssuedOperator>()
  const [leaving, setLeaving] = useState<Operator>()
  const isAdmin = page.may('admin')
  const readAgain = (): void => void watched.read()

  function read(): Promise<readonly Operator[]> {
    return Array.fromAsync(page.reader.operators.list())
  }

  useEffect(readAgain, [])
  return (
    <main class="list card" aria-busy={watched.value.value === undefined}>
      <h2 class="unseen">{words.title}</h2>
      <div class="list-rows record">
        <ProblemNotice text={watched.problem.value} />
        <SectionFrame
          title={words.title}
          empty={words.empty}
          add={isAdmin ? words.add : undefined}
          onAdd={() => setAdding(true)}
        >
          {(watched.value.value ?? []).map((operator) => (
            <Entry
              key={operator.name}
              icon="account"
              name={operator.name}
              details={[
                operatorWords.roles[operator.role],
                words.since(formatTime(operator.created_at)),
              ]}
              {...(isAdmin && {
                remove: {
                  label: words.removeNamed(operator.name),
                  text: words.remove,
                  run: () => setLeaving(operator),
                },
              })}
            />
          ))}
        </SectionFrame>
      </div>
      {isAdding && (
        <AddOperator
          operators={page.client.operators}
          onAdded={(operator) => {
            setAdded(operator)
            readAgain()
          }}
          onClose={() => setAdding(false)}
        />
      )}
      {added !== undefined && (
        <OperatorToken operator={added} onClose={() => setAdded(undefined)} />
      )}
      {leaving !== undefined && (
        <DeleteDialog
          remove={() => page.client.operators.remove(leaving.name)}
          title={words.removeTitle}
          subject={leaving.name}
          action={words.remove}
          text={words.removeText}
          onChange={readAgain}
          onClose={() => setLeaving(undefined)}
        />
      )}
    </main>
  )
}

import { FormDialog } from '../../shared/form-dialog.tsx'
import type { PastVersion } from '../../shared/model.ts'
import { restoreRefusal } from '../../shared/versions/restore-refusal.ts'
import { words } from '../../shared/versions/words.ts'

export type HistoryQuestion =
  | { readonly kind: 'replace' | 'purge'; readonly past: PastVersion }
  | { readonly kind: 'purge-all' }

export interface HistoryQuestionProps {
  readonly question: HistoryQuestion
  /** Does what the user has confirmed. */
  readonly submit: () => Promise<void>
  readonly onClose: () => void
}

/** Asks before a file is replaced, and before versions are deleted for good. */
export function HistoryQuestionDialog({ question, ...common }: HistoryQuestionProps) {
  switch (question.kind) {
    case 'replace': {
      const { name } = question.past
      return (
        <FormDialog
          {...common}
          title={words.replaceTitle}
          subject={name}
          action={words.replace}
          problemOf={(error) => restoreRefusal(error, name)}
        >
          <p>{words.replaceText(name)}</p>
        </FormDialog>
      )
    }
    case 'purge':
      return (
        <FormDialog
          {...common}
          title={words.purgeTitle}
          subject={question.past.name}
          action={words.actions.purge}
          isGrave
        >
          <p>{words.purgeText}</p>
        </FormDialog>
      )
    case 'purge-all':
      return (
        <FormDialog {...common} title={words.purgeAllTitle} action={words.purgeAll} isGrave>
          <p>{words.purgeAllText}</p>
        </FormDialog>
      )
  }
}

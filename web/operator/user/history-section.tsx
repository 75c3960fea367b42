import { useRef, useState } from 'preact/hooks'
import { isProblem } from '../../../packages/js/src/errors.ts'
import type { PastVersion } from '../../../packages/js/src/admin.ts'
import { firstPage } from '../../shared/connection.ts'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatBytes } from '../../shared/format.ts'
import { restoreRefusal } from '../../shared/versions/restore-refusal.ts'
import { Search } from '../../shared/search.tsx'
import { messages } from '../../messages.ts'
import { words as versionWords } from '../../shared/versions/words.ts'
import { operatorWords } from '../words.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.history

/** The newest 100 past versions of a user, or of one name. Loaded on request. */
export function HistorySection({ page, user, record, onChange }: SectionProps) {
  const { reader, toasts } = page
  const { history } = reader.user(record.account.user_id)
  const [versions, setVersions] = useState<readonly PastVersion[]>()
  const [replacing, setReplacing] = useState<PastVersion>()

  const asked = useRef({ name: '' })

  async function list(name: string): Promise<void> {
    const mine = (asked.current = { name })
    await toasts.attempt(async () => {
      const found = await firstPage(history.list({ name: name || undefined, limit: 100 }))
      // A later search may have overtaken this one.
      if (mine === asked.current) setVersions(found?.versions)
    })
  }

  async function restore({ version, name: old }: PastVersion, overwrite: boolean): Promise<void> {
    await user.history.restore(version, { overwrite })
    toasts.show(versionWords.restored(old))
    onChange()
    await list(asked.current.name)
  }

  async function tryToRestore(past: PastVersion): Promise<void> {
    try {
      await restore(past, false)
    } catch (error) {
      if (isProblem(error, 'file_exists')) setReplacing(past)
      else toasts.show(restoreRefusal(error, past.name))
    }
  }

  const open = { add: words.show, onAdd: () => void list('') }
  return (
    <>
      <SectionFrame
        title={messages.history.title}
        empty={versions === undefined ? words.hint : versionWords.empty}
        {...(versions === undefined
          ? open
          : {
              search: (
                <Search label={words.find} maxLength={1_024} onSearch={(text) => void list(text)} />
              ),
            })}
      >
        {(versions ?? []).map((past) => (
          <Entry
            key={past.version}
            icon="history"
            name={past.name}
            details={[
              versionWords.ended[past.ended_as](past.ended_at),
              versionWords.kept(past.expires_at),
            ]}
            figure={formatBytes(past.size)}
            {...(page.may('support') && {
              action: {
                label: versionWords.restore(
                  `${past.name}, ${versionWords.ended[past.ended_as](past.ended_at)}`,
                ),
                text: versionWords.actions.restore,
                run: () => void tryToRestore(past),
              },
            })}
          />
        ))}
      </SectionFrame>
      {replacing !== undefined && (
        <FormDialog
          title={versionWords.replaceTitle}
          subject={replacing.name}
          action={versionWords.replace}
          submit={() => restore(replacing, true)}
          problemOf={(error) => restoreRefusal(error, replacing.name)}
          onClose={() => setReplacing(undefined)}
        >
          <p>{versionWords.replaceText(replacing.name)}</p>
        </FormDialog>
      )}
    </>
  )
}

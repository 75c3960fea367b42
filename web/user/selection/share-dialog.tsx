import { useState } from 'preact/hooks'
import { filePath } from '../../shared/connection.ts'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { messages } from '../../messages.ts'
import { VisibilityField } from '../actions/visibility-field.tsx'
import { CreatedLink, CreateLink, permittedKinds } from '../links/create-link.tsx'
import { type SelectionDialogProps, useSharedPrefix } from './archive-dialog.tsx'
import { updateMany } from './change-many.ts'
import { isWholeWord } from './common-prefix.ts'

const words = messages.selection.share

/** Says who can download the files, copies their addresses, and makes one link to them if that can be. */
export function ShareDialog(props: SelectionDialogProps) {
  const { page, files, onClose } = props
  const [first, ...others] = files.map(({ visibility }) => visibility)
  const [chosen, setChosen] = useState(others.every((each) => each === first) ? first : undefined)
  const [said, setSaid] = useState('')
  const [isLinking, setLinking] = useState(false)
  const [address, setAddress] = useState<string>()
  const shared = useSharedPrefix(props) ?? ''
  const prefix = isWholeWord(shared) ? shared : undefined
  const canLink = prefix !== undefined && permittedKinds(page.permissions).includes('download')

  async function submit(): Promise<void> {
    if (chosen === undefined) return
    const changed = files.filter(({ visibility }) => visibility !== chosen)
    await updateMany(page, {
      kind: 'share',
      files: changed,
      change: { visibility: chosen },
      before: ({ visibility }) => ({ visibility }),
    })
  }

  async function copy(): Promise<void> {
    const urls = files.map(({ name, user_id: id }) => page.connection.urlOf(filePath(name, id)))
    try {
      await navigator.clipboard.writeText(urls.join('\n'))
      setSaid(words.copied)
    } catch {
      setSaid(words.notCopied)
    }
  }

  return (
    <>
      <FormDialog
        title={messages.share.title}
        action={words.action}
        isReady={chosen !== undefined}
        submit={submit}
        onClose={onClose}
      >
        <VisibilityField label={words.who} chosen={chosen} onChoose={setChosen} />
        <button type="button" class="button" onClick={() => void copy()}>
          {said || words.links}
        </button>
        <p class="unseen" role="status">
          {said}
        </p>
        {canLink && (
          <>
            <button type="button" class="button" onClick={() => setLinking(true)}>
              {words.together}
            </button>
            <p class="quiet">{words.togetherHint(prefix)}</p>
          </>
        )}
      </FormDialog>
      {isLinking && prefix !== undefined && (
        <CreateLink
          page={page}
          prefix={prefix}
          onCreated={setAddress}
          onClose={() => setLinking(false)}
        />
      )}
      {address !== undefined && (
        <CreatedLink address={address} onClose={() => setAddress(undefined)} />
      )}
    </>
  )
}

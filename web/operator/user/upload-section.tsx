import { useState } from 'preact/hooks'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatBytes } from '../../shared/format.ts'
import { messages } from '../../messages.ts'
import type { UnfinishedUpload } from '../model.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { SectionProps } from './section-props.ts'

const words = messages.operator.uploads

/** Empty for a user without unfinished uploads, as most are. */
export function UploadSection(props: SectionProps) {
  const { uploads } = props.record
  const [ending, setEnding] = useState<UnfinishedUpload>()
  if (uploads.length === 0 && ending === undefined) return null
  return (
    <>
      <SectionFrame title={words.title} empty={words.empty}>
        {uploads.map((upload) => (
          <Entry
            key={upload.upload_id}
            icon="upload"
            name={upload.name}
            details={[
              messages.unfinished.received(upload.offset, upload.length),
              words.states[upload.state],
              messages.unfinished.kept(upload.expires_at),
            ]}
            remove={{
              label: words.discardNamed(upload.name),
              text: words.discard,
              run: () => setEnding(upload),
            }}
          />
        ))}
      </SectionFrame>
      {ending !== undefined && (
        <DiscardUpload {...props} upload={ending} onClose={() => setEnding(undefined)} />
      )}
    </>
  )
}

interface DiscardUploadProps extends SectionProps {
  readonly upload: UnfinishedUpload
  readonly onClose: () => void
}

function DiscardUpload({ page, path, upload, onChange, onClose }: DiscardUploadProps) {
  async function discard(): Promise<void> {
    await page.api.call(`${path}/uploads/${upload.upload_id}`, { method: 'DELETE' })
    onChange()
  }

  return (
    <FormDialog
      title={words.discardTitle}
      subject={upload.name}
      action={words.discard}
      isGrave
      submit={discard}
      onClose={onClose}
    >
      <p>{words.discardText(formatBytes(upload.offset))}</p>
    </FormDialog>
  )
}

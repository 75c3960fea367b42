import { useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { formatBytes } from '../../shared/format.ts'
import { words as unfinished } from '../../shared/unfinished-words.ts'
import { operatorWords } from '../words.ts'
import type { UnfinishedUpload } from '../../../packages/js/src/admin.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.uploads

/** Empty for a user without unfinished uploads, as most are. */
export function UploadSection({ page, user, record, onChange }: SectionProps) {
  const { uploads } = record
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
              unfinished.received(upload.offset, upload.length),
              words.states[upload.state],
              unfinished.kept(upload.expires_at),
            ]}
            {...(page.may('support') && {
              remove: {
                label: words.discardNamed(upload.name),
                text: words.discard,
                run: () => setEnding(upload),
              },
            })}
          />
        ))}
      </SectionFrame>
      {ending !== undefined && (
        <DeleteDialog
          remove={() => user.uploads.cancel(ending.upload_id)}
          title={words.discardTitle}
          subject={ending.name}
          action={words.discard}
          text={words.discardText(formatBytes(ending.offset))}
          onChange={onChange}
          onClose={() => setEnding(undefined)}
        />
      )}
    </>
  )
}

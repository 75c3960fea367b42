import { useState } from 'preact/hooks'
import { Choice } from '../../shared/choice.tsx'
import { FormDialog } from '../../shared/form-dialog.tsx'
import type { FileEntry } from '../../shared/model.ts'
import { TextField } from '../../shared/text-field.tsx'
import { messages } from '../../messages.ts'

const words = messages.stay

/** Without the members that stay. */
export interface StayChange {
  readonly keep?: boolean
  readonly expires_at?: string | null
}

export interface StayDialogProps {
  readonly file: FileEntry
  /** Whether the token permits to set an expiry. */
  readonly mayExpire: boolean
  readonly change: (change: StayChange) => Promise<unknown>
  readonly onClose: () => void
}

/** Whether evictions spare a file, and when it expires. */
export function StayDialog({ file, mayExpire, change, onClose }: StayDialogProps) {
  const before = { keep: file.keep ?? false, day: dayOf(file.expires_at ?? null) }
  const [keep, setKeep] = useState(before.keep)
  const [day, setDay] = useState(before.day)

  return (
    <FormDialog
      title={words.title}
      subject={file.name}
      action={words.action}
      submit={async () => {
        const stay = {
          ...(keep !== before.keep && { keep }),
          ...(day !== before.day && { expires_at: endOf(day) }),
        }
        if (Object.keys(stay).length > 0) await change(stay)
      }}
      onClose={onClose}
    >
      <Choice
        title={words.keep}
        hint={words.keepHint}
        isChosen={keep}
        onChange={() => setKeep(!keep)}
      />
      {mayExpire && (
        <TextField
          label={words.expires}
          hint={words.expiresHint}
          type="date"
          value={day}
          onInput={setDay}
        />
      )}
    </FormDialog>
  )
}

/** A day of the user's calendar; empty for a file that does not expire. */
function dayOf(time: string | null): string {
  if (time === null) return ''
  const date = new Date(time)
  const two = (part: number): string => String(part).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

function endOf(day: string): string | null {
  return day === '' ? null : new Date(`${day}T23:59:59`).toISOString()
}

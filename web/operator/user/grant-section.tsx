import { useState } from 'preact/hooks'
import { DeleteDialog } from '../../shared/delete-dialog.tsx'
import { FormDialog } from '../../shared/form-dialog.tsx'
import { formatBytes, formatTime } from '../../shared/format.ts'
import { operatorWords } from '../words.ts'
import { SizeField } from '../../shared/size-field.tsx'
import { bytesOf, NO_SIZE } from '../../shared/typed-size.ts'
import { TextField } from '../../shared/text-field.tsx'
import type { Grant } from '../../../packages/js/src/admin.ts'
import { Entry, SectionFrame } from '../../shared/section.tsx'
import type { SectionProps } from './section-props.ts'

const words = operatorWords.grants

export function GrantSection(props: SectionProps) {
  const { page, user, record, onChange } = props
  const isAdmin = page.may('admin')
  const [isAdding, setAdding] = useState(false)
  const [ending, setEnding] = useState<Grant>()
  return (
    <>
      <SectionFrame
        title={words.title}
        empty={words.empty}
        add={isAdmin ? words.add : undefined}
        onAdd={() => setAdding(true)}
      >
        {record.grants.map((grant) => (
          <Entry
            key={`${grant.source} ${grant.reference}`}
            icon="gift"
            name={grant.reference}
            details={[grant.source, ...periodOf(grant)]}
            figure={formatBytes(grant.bytes)}
            {...(isAdmin && {
              remove: {
                label: words.revokeNamed(grant.reference),
                text: words.revoke,
                run: () => setEnding(grant),
              },
            })}
          />
        ))}
      </SectionFrame>
      {isAdding && <AddGrant {...props} onClose={() => setAdding(false)} />}
      {ending !== undefined && (
        <DeleteDialog
          remove={() => user.grants.revoke(ending)}
          title={words.revokeTitle}
          subject={`${ending.source} ${ending.reference}`}
          action={words.revoke}
          text={
            stateOf(ending) === 'in-force'
              ? operatorWords.devices.removeText(formatBytes(ending.bytes))
              : words.revokeIdle
          }
          onChange={onChange}
          onClose={() => setEnding(undefined)}
        />
      )}
    </>
  )
}

type GrantState = 'to-come' | 'in-force' | 'ended'

function stateOf({ starts_at: from, ends_at: to }: Grant): GrantState {
  const now = Date.now()
  if (to !== null && Date.parse(to) <= now) return 'ended'
  return from !== null && Date.parse(from) > now ? 'to-come' : 'in-force'
}

function periodOf(grant: Grant): readonly string[] {
  const { starts_at: from, ends_at: to } = grant
  const state = stateOf(grant)
  const end = to === null ? words.forEver : words.until(formatTime(to))
  if (state === 'ended' && to !== null) return [words.ended(formatTime(to))]
  if (from === null) return [end]
  return [(state === 'to-come' ? words.from : words.since)(formatTime(from)), end]
}

function AddGrant({ user, onChange, onClose }: SectionProps & { onClose: () => void }) {
  const [source, setSource] = useState<string>(words.usualSource)
  const [reference, setReference] = useState('')
  const [size, setSize] = useState(NO_SIZE)
  const [end, setEnd] = useState('')
  const bytes = bytesOf(size)

  async function add(): Promise<void> {
    if (bytes === undefined) return
    // The last second of that day in the operator's time zone.
    const terms =
      end === '' ? { bytes } : { bytes, ends_at: new Date(`${end}T23:59:59`).toISOString() }
    await user.grants.put({ source: source.trim(), reference: reference.trim() }, terms)
    onChange()
  }

  return (
    <FormDialog
      title={words.add}
      action={words.addAction}
      isReady={source.trim() !== '' && reference.trim() !== '' && bytes !== undefined}
      submit={add}
      onClose={onClose}
    >
      <SizeField label={words.bytes} size={size} onInput={setSize} />
      <TextField label={words.source} hint={words.sourceHint} value={source} onInput={setSource} />
      <TextField
        label={words.reference}
        hint={words.referenceHint}
        value={reference}
        onInput={setReference}
      />
      <TextField label={words.end} hint={words.endHint} type="date" value={end} onInput={setEnd} />
    </FormDialog>
  )
}

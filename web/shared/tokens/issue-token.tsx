import { useState } from 'preact/hooks'
import type {
  AccessTokenTerms,
  IssuedAccessToken,
  Tokens,
} from '../../../packages/js/src/client.ts'
import { isProblem } from '../../../packages/js/src/errors.ts'
import { deviceName } from '../devices/device.ts'
import { faultOf } from '../file-name.ts'
import { SEPARATOR } from '../folder.ts'
import { FormDialog } from '../form-dialog.tsx'
import type { AccessToken, DeviceUse, OwnToken } from '../model.ts'
import { Refusal } from '../refusal.ts'
import { SelectField } from '../select-field.tsx'
import { endOfTokens, termsUntil, within } from '../token-scope.ts'
import { TermField } from '../term-field.tsx'
import { TextField } from '../text-field.tsx'
import { validityOf } from '../validity.ts'
import { DeviceChoice } from './device-choice.tsx'
import { ownFolder } from './own-folder.ts'
import { actionsOf, mayEvict, onlyAdds, type Preset, presetsWithin } from './presets.ts'
import { words } from './words.ts'

/** Offered validity in days; 0 means until revoked. */
const TERMS = [0, 365, 30, 1] as const

/** In UTF-16 code units, as the service counts. */
const MAX_LABEL_LENGTH = 200

export interface IssueTokenProps {
  readonly tokens: Tokens
  readonly title: string
  /** What it permits unless another choice is made. */
  readonly preset: Preset
  /** The devices of the account. */
  readonly devices: readonly DeviceUse[]
  /** The tokens of the account, whose folders are taken. */
  readonly entries: readonly AccessToken[]
  /** The token that makes it, which limits it. */
  readonly parent?: OwnToken | undefined
  readonly onChange: () => void
  readonly onIssued: (issued: IssuedAccessToken) => void
  readonly onClose: () => void
}

/** Asks who gets a token and what it permits, and makes it. */
export function IssueToken(props: IssueTokenProps) {
  const { tokens, title, entries, parent, onChange, onIssued, onClose } = props
  const limit = parent?.scope ?? null
  const own = limit?.device_id ?? null
  const devices = props.devices.filter(({ device_id: id }) => own === null || id === own)
  const presets = presetsWithin(limit)
  const end = endOfTokens(parent)
  const terms = termsUntil(end, TERMS)
  const isConnecting = props.preset !== 'all'
  const [deviceId, setDeviceId] = useState(
    isConnecting ? firstOf(devices, entries)?.device_id : undefined,
  )
  const [name, setName] = useState('')
  const [preset, setPreset] = useState(
    presets.includes(props.preset) ? props.preset : (presets[0] ?? 'all'),
  )
  /** As the user has typed it. */
  const [typed, setTyped] = useState<string>()
  const [whenFull, setWhenFull] = useState('refuse')
  const [days, setDays] = useState<number>(0)

  const device = devices.find(({ device_id: id }) => id === deviceId)
  const label = device === undefined ? name.trim() : deviceName(device)
  const folder = typed ?? (onlyAdds(preset) ? suggested() : '')
  const isEvicting = whenFull === 'evict_oldest' && folder !== '' && canAdd(preset)

  /** That of the device if it has one already. */
  function suggested(): string {
    const known = entries.find(
      ({ scope, revoked_at: end }) =>
        device !== undefined && end === null && scope?.device_id === device.device_id,
    )
    if (known?.scope?.prefix.endsWith(SEPARATOR) === true) return known.scope.prefix
    const taken = new Set([
      ...entries.map(({ scope }) => scope?.prefix.toLowerCase()),
      ...devices.filter((each) => each !== device).map((each) => folderOf(deviceName(each))),
    ])
    return ownFolder({
      label,
      distinct: device?.device_id,
      isTaken: (free) => taken.has(within(limit, free).toLowerCase()),
    })
  }

  async function issue(): Promise<void> {
    const actions = actionsOf(preset)
    const prefix = within(limit, folderNamed(folder))
    const scope = {
      ...(actions !== undefined && { actions: [...actions] }),
      ...(prefix !== '' && { prefix }),
      ...(device !== undefined && { device_id: device.device_id }),
      ...(isEvicting && { when_full: 'evict_oldest' as const }),
    }
    const asked: AccessTokenTerms = {
      label: label.slice(0, MAX_LABEL_LENGTH),
      ...validityOf(days),
      ...(Object.keys(scope).length > 0 && { scope }),
    }
    const issued = await tokens.create(asked)
    // First, before anything else can fail: the token is shown only once.
    onIssued(issued)
    // Before the next dialog opens, so that the focus returns to what has opened this one.
    onClose()
    onChange()
  }

  return (
    <FormDialog
      title={title}
      action={words.issueAction}
      submit={issue}
      problemOf={reasonOf}
      onClose={onClose}
    >
      <DeviceChoice
        devices={devices}
        chosen={deviceId}
        hasProgram={own === null}
        onChoose={(chosen) => {
          setDeviceId(chosen)
          setTyped(undefined)
        }}
      />
      {device === undefined && (
        <TextField label={words.name} hint={words.nameHint} value={name} onInput={setName} />
      )}
      <SelectField
        label={words.permits}
        options={presets.map((each) => [each, wordsOf(each)[0]])}
        value={preset}
        hint={wordsOf(preset)[1]}
        onChange={setPreset}
      />
      <TextField
        label={words.folder}
        hint={folder === '' ? words.everywhere : words.folderHint}
        value={folder}
        onInput={setTyped}
      />
      {mayEvict(limit) && canAdd(preset) && folder !== '' && (
        <SelectField
          label={words.whenFull}
          options={Object.entries(words.full)}
          value={whenFull}
          onChange={setWhenFull}
        />
      )}
      <TermField
        label={words.term}
        terms={terms}
        days={days}
        nameOf={(term) => (term === 0 && end !== undefined ? words.atMost(end) : words.days(term))}
        onChange={setDays}
      />
    </FormDialog>
  )

  function wordsOf(each: Preset): readonly [string, string] {
    const [title = '', hint = ''] =
      limit !== null && each === 'all' ? words.inherited : words.presets[each]
    return [title, hint]
  }
}

/** The folder that a device would have if it were the only one, to be compared. */
function folderOf(label: string): string {
  return ownFolder({ label, isTaken: () => false }).toLowerCase()
}

/** The first device without a token, else the first one. */
function firstOf(
  devices: readonly DeviceUse[],
  entries: readonly AccessToken[],
): DeviceUse | undefined {
  const connected = new Set(entries.map(({ scope }) => scope?.device_id))
  return devices.find(({ device_id: id }) => !connected.has(id)) ?? devices[0]
}

function canAdd(preset: Preset): boolean {
  return actionsOf(preset)?.some((action) => action === 'create') ?? true
}

/** The prefix of the names in it. Throws a `Refusal` for what no folder can be called. */
function folderNamed(text: string): string {
  const plain = text.trim()
  if (plain === '') return ''
  const folder = plain.endsWith(SEPARATOR) ? plain : plain + SEPARATOR
  if (faultOf(folder) !== undefined) throw new Refusal(words.folderInvalid)
  return folder
}

const REFUSALS: Readonly<Record<string, string>> = words.refusals

function reasonOf(error: unknown): string | undefined {
  return isProblem(error) ? REFUSALS[error.code] : undefined
}

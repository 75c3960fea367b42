import type { Overview } from '../../../packages/js/src/admin.ts'
import { Dialog } from '../../shared/dialog.tsx'
import { ShownName } from '../../shared/shown-name.tsx'
import { operatorWords } from '../words.ts'

const words = operatorWords.instance

type Settings = Overview['settings']

interface SettingsDialogProps {
  readonly settings: Settings
  readonly onClose: () => void
}

/** The settings in force: those that are set, and on demand the others with their defaults. */
export function SettingsDialog({ settings, onClose }: SettingsDialogProps) {
  const [set, others] = [true, false].map((isSet) => settings.filter((each) => each.set === isSet))
  return (
    <Dialog title={words.settingsTitle} isWide onClose={onClose}>
      {set?.length === 0 ? <p>{words.allDefault}</p> : <SettingList settings={set ?? []} />}
      <details>
        <summary>{words.defaults(others?.length ?? 0)}</summary>
        <SettingList settings={others ?? []} />
      </details>
    </Dialog>
  )
}

function SettingList({ settings }: Pick<SettingsDialogProps, 'settings'>) {
  return (
    <dl class="settings">
      {settings.map((setting) => (
        <div key={setting.name}>
          <dt>{setting.name}</dt>
          <dd>
            {setting.value === null ? absenceOf(setting) : <ShownName name={setting.value} />}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function absenceOf({ secret, set }: Settings[number]) {
  return <span class="quiet">{secret && set ? words.secret : words.notSet}</span>
}

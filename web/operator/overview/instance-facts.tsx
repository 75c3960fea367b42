import { useState } from 'preact/hooks'
import type { Overview } from '../../../packages/js/src/admin.ts'
import { formatBytes, formatWholeTime } from '../../shared/format.ts'
import { formatAge } from '../format-age.ts'
import { operatorWords } from '../words.ts'
import { SettingsDialog } from './settings-dialog.tsx'

const words = operatorWords.instance

/** What an operator asks first about the instance that answers, in one line. */
export function InstanceFacts({ overview }: { readonly overview: Overview }) {
  const { version, uptime, settings } = overview
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <ul class="facts quiet" aria-label={words.title}>
        <li>{words.version(version)}</li>
        <li>{words.uptime(formatAge(uptime))}</li>
        {freeDisks(overview).map((text) => (
          <li key={text}>{text}</li>
        ))}
        <Backup overview={overview} />
        <li>
          <button type="button" class="fact-button" onClick={() => setOpen(true)}>
            {words.settings(settings.filter(({ set }) => set).length)}
          </button>
        </li>
      </ul>
      {isOpen && <SettingsDialog settings={settings} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Where servers store the data, they also make the backups. */
function Backup({ overview }: { readonly overview: Overview }) {
  const { last_backup: last, taken_at: now, free_disk: disk, settings } = overview
  if (last !== null) {
    const age = formatAge(Math.max(0, Date.parse(now) - Date.parse(last.at)) / 1000)
    return <li title={formatWholeTime(last.at)}>{words.lastBackup(age)}</li>
  }
  const isLocal = disk.database !== null && disk.objects !== null
  const isMade = settings.some(({ name, set }) => name === 'BACKUP_DIR' && set)
  return isLocal || isMade ? <li>{words.noBackup}</li> : null
}

/** One figure if both are on the same file system, as they look alike then. */
function freeDisks({ free_disk: { database, objects } }: Overview): readonly string[] {
  const forDatabase = database === null ? undefined : formatBytes(database)
  const forObjects = objects === null ? undefined : formatBytes(objects)
  if (forDatabase !== undefined && forObjects !== undefined && forDatabase !== forObjects) {
    return [words.freeForDatabase(forDatabase), words.freeForObjects(forObjects)]
  }
  const free = forDatabase ?? forObjects
  return free === undefined ? [] : [words.free(free)]
}

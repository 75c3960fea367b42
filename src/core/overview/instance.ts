import { type LastBackup, lastBackupJson } from '../backup/backup-folder.ts'

/** A setting as operators see it. */
export interface SettingInForce {
  readonly name: string
  /** Whether the environment or a file sets it; else its default applies. */
  readonly isSet: boolean
  readonly isSecret: boolean
  /** As it is written, a URL without its secrets. `undefined` for a secret, and for a setting without a value. */
  readonly value: string | undefined
}

/** Bytes that the file systems have left for this process; `undefined` for what a server stores. */
export interface FreeDisk {
  readonly database: number | undefined
  readonly objects: number | undefined
}

/** The process that answers: an instance of the service, or a command. */
export interface Instance {
  readonly version: string
  readonly uptimeSeconds: number
  readonly freeDisk: FreeDisk
  readonly settings: readonly SettingInForce[]
  /** The newest complete copy in `BACKUP_DIR`, whoever has made it. */
  readonly lastBackup: LastBackup | undefined
}

export interface InstanceOptions {
  readonly version: string
  readonly settings: readonly SettingInForce[]
  readonly measureFreeDisk: () => Promise<FreeDisk>
  readonly findLastBackup: () => Promise<LastBackup | undefined>
  /** In milliseconds; monotonic by default. */
  readonly clock?: (() => number) | undefined
}

export type InstanceReader = ReturnType<typeof createInstance>

export function createInstance(options: InstanceOptions) {
  const { version, settings, measureFreeDisk, findLastBackup } = options
  const { clock = () => performance.now() } = options
  const startedAt = clock()
  return {
    version,
    /** Measures the disks, and looks for backups, anew. */
    async read(): Promise<Instance> {
      const [freeDisk, lastBackup] = await Promise.all([measureFreeDisk(), findLastBackup()])
      const uptimeSeconds = Math.floor((clock() - startedAt) / 1000)
      return { version, uptimeSeconds, freeDisk, settings, lastBackup }
    },
  }
}

/** An instance under the names of the admin API. */
export function instanceJson(instance: Instance) {
  const { version, uptimeSeconds, freeDisk, settings, lastBackup } = instance
  const { database = null, objects = null } = freeDisk
  return {
    version,
    uptime: uptimeSeconds,
    free_disk: { database, objects },
    last_backup: lastBackupJson(lastBackup),
    settings: settings.map(({ name, value = null, isSet, isSecret }) => {
      return { name, value, set: isSet, secret: isSecret }
    }),
  }
}

import { formatBytes, formatCount, formatTime } from '../format.ts'

/** In English. They are not in `messages`: most users have no devices. */
export const devicesEnglish = {
  title: 'Devices',
  /** What a device stores, and its share of the capacity. */
  use: (used: number, share: number | undefined) =>
    share === undefined
      ? `${formatBytes(used)} used`
      : `${formatBytes(used)} of ${formatBytes(share)} used`,
  files: (count: number) => (count === 1 ? '1 file' : `${formatCount(count)} files`),
  newest: (time: string) => `newest ${formatTime(time)}`,
  show: (name: string) => `Files of ${name}`,
  shown: (name: string) => `Files of “${name}”`,
  showAll: 'Show all files',
}

export type DeviceMessages = typeof devicesEnglish

import { formatBytes, formatCount, formatTime } from './format.ts'

const uploads = (count: number): string =>
  count === 1 ? '1 upload' : `${formatCount(count)} uploads`

/** In English. They are not in `messages`, all of which the first visit loads. */
export const unfinishedEnglish = {
  title: 'Unfinished uploads',
  interrupted: (count: number) =>
    `${uploads(count)} ${count === 1 ? 'was' : 'were'} interrupted. ` +
    `Choose the ${count === 1 ? 'file' : 'files'} again to continue.`,
  complete: (count: number) => `${uploads(count)} could not be stored yet.`,
  elsewhere: (count: number) =>
    `${uploads(count)} ${count === 1 ? 'is' : 'are'} running elsewhere.`,
  progress: (name: string) => `Progress of ${name}`,
  received: (offset: number, length: number | null) =>
    length === null ? formatBytes(offset) : `${formatBytes(offset)} of ${formatBytes(length)}`,
  kept: (time: string) => `kept until ${formatTime(time)}`,
  receiving: 'Being uploaded elsewhere',
  arrived: 'The whole file has arrived.',
  retry: (name: string) => `Store ${name} now`,
  cancel: (name: string) => `Cancel the upload of ${name}`,
}

export type UnfinishedMessages = typeof unfinishedEnglish

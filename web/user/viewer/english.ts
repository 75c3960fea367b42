import { formatCount } from '../../shared/format.ts'

/** In English. They are not in `messages`, all of which the first visit loads. */
export const viewerEnglish = {
  place: (index: number, count: number, hasMore: boolean) =>
    `${formatCount(index)} of ${formatCount(count)}${hasMore ? '+' : ''}`,
  announce: (name: string) => `Showing ${name}`,
  previous: 'Previous file',
  next: 'Next file',
  notShown: 'This file cannot be shown here.',
  empty: 'This file is empty.',
  download: (size: string) => `Download (${size})`,
  beginning: (size: string) => `This is the beginning of the file, ${size}.`,
}

export type ViewerMessages = typeof viewerEnglish

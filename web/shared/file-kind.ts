import type { IconName } from './icon.tsx'

const KINDS: Readonly<Record<string, IconName>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  archive: 'archive',
}

const EXTENSIONS = {
  image: 'jpg jpeg png gif webp avif heic heif svg bmp tif tiff raw dng',
  video: 'mp4 mov webm mkv avi m4v mpg mpeg ts',
  audio: 'mp3 wav flac m4a aac ogg opus aiff',
  archive: 'zip gz tgz tar bz2 xz 7z rar zst',
} as const

const KIND_OF = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, extensions]) =>
    extensions.split(' ').map((extension) => [extension, kind] as const),
  ),
)

/** The kind of a file by its extension. The content is not inspected. */
export function kindOf(name: string): IconName {
  const extension = name.slice(name.lastIndexOf('.') + 1).toLowerCase()
  return KINDS[KIND_OF.get(extension) ?? ''] ?? 'document'
}

const EXTENSIONS = {
  image: 'jpg jpeg png gif webp avif heic heif svg bmp tif tiff raw dng',
  video: 'mp4 mov webm mkv avi m4v mpg mpeg ogv m2ts',
  audio: 'mp3 wav flac m4a aac ogg oga opus aiff',
  archive: 'zip gz tgz tar bz2 xz 7z rar zst',
  pdf: 'pdf',
  sheet: 'xlsx xls ods csv tsv numbers',
  text: 'txt md log srt vtt ics tex',
  code:
    'ts tsx js jsx mjs cjs json xml yaml yml toml ini conf html css py rb rs go c h cpp hpp java kt ' +
    'swift php sh sql diff patch',
} as const

/** Each is an icon, too. */
export type FileKind = keyof typeof EXTENSIONS | 'document'

const KIND_OF = new Map(
  Object.entries(EXTENSIONS).flatMap(([kind, extensions]) =>
    extensions.split(' ').map((extension) => [extension, kind as FileKind] as const),
  ),
)

/** What a file is, by its media type if that says it, otherwise by its extension. The content is not inspected. */
export function kindOf(name: string, mediaType = ''): FileKind {
  const [type = ''] = mediaType.split('/')
  if (type === 'image' || type === 'video' || type === 'audio') return type
  return KIND_OF.get(extensionOf(name)) ?? (type === 'text' ? 'text' : 'document')
}

/** In lower case, without the dot; the whole name if it has none. */
export function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1).toLowerCase()
}

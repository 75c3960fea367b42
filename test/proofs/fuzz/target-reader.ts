/** The decoded segments of the path of a target, which may be a whole URL (RFC 9112 section 3.2.2). */
export function segmentsOf(target: string): (string | undefined)[] {
  return pathOf(target).split('/').map(decoded)
}

/** The name of the user's own file that a target names: all that follows, if that is a name. */
export function nameOf(target: string): string | undefined {
  const [start, users, me, repo, ...rest] = pathOf(target).split('/')
  const isOwn = start === '' && [users, me, repo].map((each) => decoded(each ?? '')).join() === OWN
  const name = decoded(rest.join('/'))
  return isOwn && name !== undefined && isName(name) ? name : undefined
}

const OWN = 'users,me,repo'

/**
 * The grammar of names, read from the documentation alone. `size` is that of the content, which a folder's marker does
 * not have.
 */
export function isName(name: string, size = 0): boolean {
  if (!name.isWellFormed() || Buffer.byteLength(name) > 1024) return false
  const isMarker = name.endsWith('/')
  const segments = (isMarker ? name.slice(0, -1) : name).split('/')
  return segments.every(isSegment) && (size === 0 || !isMarker)
}

function isSegment(segment: string): boolean {
  const bytes = Buffer.from(segment)
  const isVisible = bytes.every((byte) => byte > 0x1f && byte !== 0x7f && byte !== 0x5c)
  const isHere = segment === '.' || segment === '..'
  return bytes.length >= 1 && bytes.length <= 255 && isVisible && !isHere
}

function pathOf(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')
  return path
}

function decoded(text: string): string | undefined {
  try {
    return text.includes('#') ? undefined : decodeURIComponent(text)
  } catch {
    return undefined
  }
}

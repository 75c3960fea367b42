/** The decoded segments of the path of a target, which may be a whole URL (RFC 9112 section 3.2.2). */
export function segmentsOf(target: string): (string | undefined)[] {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split('?')
  return path.split('/').map(decoded)
}

/** The name of the user's own file that a target names. */
export function nameOf(target: string): string | undefined {
  const segments = segmentsOf(target)
  const [start, users, me, repo, name] = segments
  const isOwn =
    segments.length === 5 && start === '' && users === 'users' && me === 'me' && repo === 'repo'
  return isOwn && name !== '' ? name : undefined
}

function decoded(segment: string): string | undefined {
  try {
    return segment.includes('#') ? undefined : decodeURIComponent(segment)
  } catch {
    return undefined
  }
}

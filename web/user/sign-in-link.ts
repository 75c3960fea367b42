import { takeToken } from '../shared/sign-in-link.ts'

/** The token of a link to the users' page. The address of a folder stays. */
export function takeAccessToken(): string | undefined {
  return takeToken({ member: 'access_token', isPlace: (parts) => parts.has('folder') })
}

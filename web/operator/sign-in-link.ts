import { takeToken } from '../shared/sign-in-link.ts'

/** The token of a link to the operators' page, which `npm start` prints. The address of a view stays. */
export function takeAdminToken(): string | undefined {
  return takeToken({ member: 'admin_token', isPlace: () => true })
}

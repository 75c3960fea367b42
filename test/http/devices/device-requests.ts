import { expect } from 'vitest'
import type { DeviceShare } from '../../../src/core/quota/device-share.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { ADMIN_TOKEN, done } from '../admin/fixture.ts'
import { issue, send, type Sent } from '../scopes/scoped-requests.ts'

/** Of services whose users have devices. A user has no capacity but what a test gives them. */
export const DEVICE_OPTIONS = { adminToken: ADMIN_TOKEN, historyLifetimeMs: 60_000 } as const

export const REPO = '/users/me/repo'

export interface Device {
  readonly deviceId: string
  /** A token of the device, with no other limits. */
  readonly token: string
}

/** What a device has in the figures of its account. */
export interface DeviceFigures {
  readonly device_id: string
  readonly used: number
  readonly reserved: number
  readonly file_count: number
  readonly newest_at: string | null
}

/** Adds a device to the user, or changes it. */
export async function putDevice(
  service: TestService,
  { userId }: TestUser,
  { id, ...terms }: { readonly id: string; readonly share?: DeviceShare; readonly bytes?: number },
): Promise<void> {
  const path = `/${userId}/devices/${id}`
  const reply = await fetch(`http://127.0.0.1:${service.adminPort}/admin/users${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify(terms),
  })
  expect(reply.ok).toBe(true)
}

/** Adds a device to the user, and makes a token of it. */
export async function openDevice(
  service: TestService,
  user: TestUser,
  { id, scope = {}, ...terms }: Parameters<typeof putDevice>[2] & { readonly scope?: object },
): Promise<Device> {
  await putDevice(service, user, { id, ...terms })
  return { deviceId: id, token: await issue(service, user, { ...scope, device_id: id }) }
}

/** Sends a request that must succeed, and returns its answer. */
export async function sent(
  service: TestService,
  request: Sent & { readonly token: string },
): Promise<Record<string, unknown>> {
  const response = await send(service, request)
  const text = await response.text()
  expect({ ok: response.ok, text }).toMatchObject({ ok: true })
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

/** Uploads so many bytes. */
export function put(name: string, bytes: number, query = ''): Sent {
  return { method: 'PUT', path: `${REPO}/${name}${query}`, body: 'x'.repeat(bytes) }
}

/** The figures of the user's devices, as a token sees them. */
export async function figuresOf(
  service: TestService,
  token: string,
): Promise<readonly DeviceFigures[]> {
  const report = await sent(service, { path: '/users/me/capacity', token })
  return report['devices'] as readonly DeviceFigures[]
}

/** Of each device, what it uses and reserves, and how many files it has. */
export async function usesOf(
  service: TestService,
  token: string,
): Promise<Readonly<Record<string, readonly [used: number, reserved: number, files: number]>>> {
  const devices = await figuresOf(service, token)
  return Object.fromEntries(
    devices.map((each) => [each.device_id, [each.used, each.reserved, each.file_count] as const]),
  )
}

/** The names of the files, in the order of the listing, page by page. */
export async function namesOf(
  service: TestService,
  { token, query = '', path = REPO }: { token: string; query?: string; path?: string },
): Promise<readonly string[]> {
  const names: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const after = cursor === '' ? '' : `&cursor=${cursor}`
    const page = await sent(service, { path: `${path}?limit=2${query}${after}`, token })
    const { files, prefixes = [], next_cursor } = page as unknown as Listed
    names.push(...prefixes, ...files.map(({ name }) => name))
    cursor = next_cursor
  }
  return names
}

interface Listed {
  readonly files: readonly { readonly name: string }[]
  readonly prefixes?: readonly string[]
  readonly next_cursor: string | null
}

/** The answer of the admin API about the user. */
export const shownUser = (service: TestService, { userId }: TestUser) =>
  done(service, { method: 'GET', path: `/${userId}`, status: 200 })

import { describe, expect, it } from 'vitest'
import { requestIds, trustOf } from '../../../src/http/server/forwarded.ts'
import { openEmbedded } from '../../support/service/embedded-service.ts'
import { ask, jsonOf } from '../fixture.ts'

const GIVEN = '0ddba11a-0000-4000-8000-00000000cafe'

function idOf(given: string, { from, trusted }: { from: string; trusted: string[] }): string {
  const socket = { remoteAddress: from }
  return requestIds(trustOf(trusted))({ headers: { 'x-request-id': given }, socket })
}

describe('the id of a request', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8']],
    ['::ffff:10.1.2.3', ['10.0.0.0/8']],
    ['10.1.2.3', ['192.168.0.1', '10.1.2.3']],
    ['fd00::5', ['fd00::/8']],
    ['::1', ['::1']],
  ])('is the one that a proxy at %s gave, where %j are trusted', (from, trusted) => {
    expect(idOf(GIVEN, { from, trusted })).toBe(GIVEN)
    expect(idOf(GIVEN.toUpperCase(), { from, trusted })).toBe(GIVEN)
  })

  it.each([
    ['10.1.2.3', []],
    ['11.1.2.3', ['10.0.0.0/8']],
    ['fe00::5', ['fd00::/8', '10.0.0.0/8']],
    ['', ['0.0.0.0/0', '::/0']],
  ])('is a new one when %s gives one, and %j are trusted', (from, trusted) => {
    const id = idOf(GIVEN, { from, trusted })
    expect(id).toMatch(/^[0-9a-f-]{36}$/)
    expect(id).not.toBe(GIVEN)
  })

  it.each([
    '',
    'x',
    `${GIVEN}0`,
    GIVEN.replaceAll('-', ''),
    'crt_0123456789012345678901234567890123',
  ])('is a new one in place of "%s", which is no UUID', (given) => {
    const id = idOf(given, { from: '10.1.2.3', trusted: ['10.0.0.0/8'] })
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
  })

  it('is in the header, the problem and nowhere else what a trusted proxy said', async () => {
    const headers = { 'X-Request-Id': GIVEN }
    for (const [trustedProxies, isTaken] of [
      [['127.0.0.0/8'], true],
      [[], false],
    ] as const) {
      const service = await openEmbedded({ trustedProxies })
      const reply = await ask(service, { path: '/users/nobody/repo/none', headers })
      expect(reply.headers['x-request-id'] === GIVEN).toBe(isTaken)
      expect(jsonOf(reply)['request_id']).toBe(reply.headers['x-request-id'])
      await service.stop()
    }
  })
})

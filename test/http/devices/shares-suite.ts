import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { type OpenService, secretOf } from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import { creation, firstAppend, problemOf, send, type Sent } from '../scopes/scoped-requests.ts'
import {
  type Device,
  DEVICE_OPTIONS,
  figuresOf,
  namesOf,
  openDevice,
  put,
  putDevice,
  REPO,
  sent,
  usesOf,
} from './device-requests.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

/** What each device may take of its account (I16). The account has 2,000 bytes, and the camera 1,000 of them. */
export function deviceSharesSuite(open: OpenService): void {
  describe('the share of a device', () => {
    let service: TestService
    let user: TestUser
    let full: string
    let camera: Device
    let phone: Device
    beforeAll(async () => {
      service = await open(DEVICE_OPTIONS)
    })
    afterAll(() => service.stop())
    beforeEach(async () => {
      user = await service.createUser(2_000)
      full = secretOf(user)
      camera = await openDevice(service, user, { id: 'camera', bytes: 0, share: 1_000 })
      phone = await openDevice(service, user, { id: 'phone', bytes: 0 })
    })

    const refusal = async (token: string, request: Sent) =>
      await problemOf(await send(service, { ...request, token }))
    const expectStored = async (token: string, request: Sent) =>
      expect(await refusal(token, request)).toBeUndefined()
    const beyond = (limit: string, figures: object = {}) => ({
      status: 403,
      code: 'capacity_exceeded',
      limit,
      ...figures,
    })
    const uses = () => usesOf(service, full)

    it('is filled to the last byte, and not further', async () => {
      await expectStored(camera.token, put('a', 400))
      await expectStored(camera.token, put('b', 600))
      expect(await refusal(camera.token, put('c', 1))).toMatchObject(
        beyond('device', { capacity: 1_000, used: 1_000, reserved: 0, available: 0, requested: 1 }),
      )
      await expectStored(camera.token, put('c', 0))
      expect(await uses()).toEqual({ camera: [1_000, 0, 3], phone: [0, 0, 0] })
      await expectStored(phone.token, put('d', 1_000))
      expect(await refusal(phone.token, put('e', 1))).toMatchObject(
        beyond('account', { capacity: 2_000, used: 2_000, available: 0 }),
      )
      expect(await refusal(full, put('e', 1))).toMatchObject(beyond('account'))
      // Of both, the share says so first.
      expect(await refusal(camera.token, put('e', 1))).toMatchObject(beyond('device'))
    })

    it.each([
      ['own', 300],
      ['all', 2_300],
    ] as const)('can be %s: what the device adds, or the whole account', async (share, size) => {
      await putDevice(service, user, { id: 'camera', bytes: 300, share })
      expect(await refusal(camera.token, put('a', size + 1))).toMatchObject({ capacity: size })
      await expectStored(camera.token, put('a', size))
    })

    it('is exact for uploads at once', async () => {
      const sizes = Array.from({ length: 20 }, (_, at) => 90 + at)
      const answers = await Promise.all(
        sizes.map((size, at) => refusal(camera.token, put(`a-${at}`, size))),
      )
      const stored = sizes.filter((_, at) => answers[at] === undefined)
      const sum = stored.reduce((total, size) => total + size, 0)
      expect(sum).toBeLessThanOrEqual(1_000)
      const refused = answers.filter((answer) => answer !== undefined)
      expect(refused).toMatchObject(refused.map(() => beyond('device')))
      expect(await uses()).toMatchObject({ camera: [sum, 0, stored.length] })
    })

    it('tells a token without read its figures, and of the account none', async () => {
      const scope = { actions: ['create'] }
      const { token } = await openDevice(service, user, { id: 'camera', share: 1_000, scope })
      expect(await refusal(token, put('a', 1_001))).toMatchObject(
        beyond('device', { capacity: 1_000, used: 0, reserved: 0, available: 1_000 }),
      )
      await putDevice(service, user, { id: 'camera', share: 'all' })
      const refused = await refusal(token, put('a', 2_001))
      expect(refused).toMatchObject(beyond('account'))
      expect(refused).not.toHaveProperty('capacity')
    })

    it('holds for the tokens and links that its token makes', async () => {
      const terms = { method: 'POST', path: '/users/me/access-tokens', token: camera.token }
      const child = String((await sent(service, terms))['access_token'])
      expect(await refusal(child, put('a', 1_001))).toMatchObject(beyond('device'))
      await expectStored(child, put('a', 999))
      const { token } = camera
      const { secret } = await createLink(service, { token, kind: 'drop', prefix: 'drop-' })
      const drop = async (bytes: number) =>
        problemOf(
          await fetch(`${service.url}/links/${secret}/x`, {
            method: 'PUT',
            body: 'x'.repeat(bytes),
          }),
        )
      const refused = await drop(2)
      expect(refused).toMatchObject({ code: 'capacity_exceeded' })
      expect(refused).not.toHaveProperty('capacity')
      expect(await drop(1)).toBeUndefined()
      expect(await uses()).toMatchObject({ camera: [1_000, 0, 2] })
    })

    it('bounds a resumable upload, from its creation on', async () => {
      const tooLong = { ...creation('own', { length: 1_001 }), token: camera.token }
      expect(await problemOf(await send(service, tooLong))).toMatchObject(beyond('device'))
      const fits = await send(service, {
        ...creation('own', { length: 1_000 }),
        token: camera.token,
      })
      await expectStored(camera.token, firstAppend(fits, 'x'.repeat(1_000)))
      expect(await uses()).toMatchObject({ camera: [1_000, 0, 1] })
    })

    it('refuses a restore that would exceed it, and a batch', async () => {
      await expectStored(camera.token, put('old', 600))
      await sent(service, { method: 'DELETE', path: `${REPO}/old`, token: full })
      await expectStored(camera.token, put('new', 401))
      const { versions } = await sent(service, { path: '/users/me/history', token: full })
      const [{ version } = { version: '' }] = versions as { version: string }[]
      const restore = { method: 'POST', path: `/users/me/history/${version}/restore` }
      expect(await refusal(full, restore)).toMatchObject(
        beyond('device', { capacity: 1_000, used: 401 }),
      )
      const operations = [{ op: 'restore', version }]
      const body = JSON.stringify({ operations })
      const batch = { method: 'POST', path: '/users/me/batch', headers: JSON_TYPE, body }
      expect(await refusal(full, batch)).toMatchObject(beyond('device'))
      await expectStored(camera.token, put('new', 400))
      await expectStored(full, restore)
      expect(await uses()).toMatchObject({ camera: [1_000, 0, 2] })
    })

    describe('an upload that evicts', () => {
      it('takes room in the share from files of the device alone, the oldest first', async () => {
        const scope = { when_full: 'evict_oldest', prefix: 'in/' }
        const { token } = await openDevice(service, user, { id: 'camera', share: 1_000, scope })
        await expectStored(phone.token, put('in/0', 300))
        await expectStored(camera.token, put('out', 300))
        await expectStored(token, put('in/1', 350))
        await expectStored(token, put('in/2', 350))
        const stored = await sent(service, { ...put('in/3', 300), token })
        expect(stored).toMatchObject({ evicted: { files: 1, bytes: 350 } })
        expect(await namesOf(service, { token: full })).toEqual(['in/0', 'in/2', 'in/3', 'out'])
        expect(await refusal(token, put('in/4', 701))).toMatchObject(beyond('device'))
        expect(await uses()).toEqual({ camera: [950, 0, 3], phone: [300, 0, 1] })
      })

      it('takes room in the account from all files below the prefix', async () => {
        const scope = { when_full: 'evict_oldest', prefix: 'in/' }
        const { token } = await openDevice(service, user, { id: 'camera', share: 1_000, scope })
        await expectStored(phone.token, put('in/0', 1_000))
        await expectStored(phone.token, put('out', 900))
        await expectStored(token, put('in/1', 100))
        await expectStored(token, put('in/2', 100))
        expect(await namesOf(service, { token: full })).toEqual(['in/1', 'in/2', 'out'])
        expect(await uses()).toEqual({ camera: [200, 0, 2], phone: [900, 0, 1] })
      })

      it('leaves the other camera what that one adds', async () => {
        const account = await service.createUser(0)
        const open = (id: string) =>
          openDevice(service, account, {
            id,
            bytes: 1_000,
            share: 'own',
            scope: {
              actions: ['create', 'read'],
              prefix: `${id}/`,
              when_full: 'evict_oldest',
            },
          })
        const [a, b] = [await open('cam-a'), await open('cam-b')]
        for (let at = 0; at < 6; at += 1) await expectStored(a.token, put(`cam-a/${at}`, 300))
        for (let at = 0; at < 6; at += 1) await expectStored(b.token, put(`cam-b/${at}`, 300))
        expect(await figuresOf(service, secretOf(account))).toMatchObject([
          { device_id: 'cam-a', used: 900, file_count: 3 },
          { device_id: 'cam-b', used: 900, file_count: 3 },
        ])
      })
    })
  })
}

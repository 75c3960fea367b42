import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { FILE_ORDERS } from '../../../src/core/files/listing.ts'
import type { TestService, TestUser } from '../../support/service/test-service.ts'
import { done } from '../admin/fixture.ts'
import { MIB, type OpenService, secretOf } from '../fixture.ts'
import { createLink } from '../links/link-requests.ts'
import { creation, firstAppend, issue, problemOf, send } from '../scopes/scoped-requests.ts'
import {
  type Device,
  DEVICE_OPTIONS,
  figuresOf,
  namesOf,
  openDevice,
  put,
  REPO,
  sent,
  shownUser,
  usesOf,
} from './device-requests.ts'

const TIME: unknown = expect.stringMatching(/^\d{4}-.*Z$/)

/** Which device a file belongs to, and who is told. */
export function devicesSuite(open: OpenService): void {
  describe('the device of a file', () => {
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
      user = await service.createUser(MIB)
      full = secretOf(user)
      camera = await openDevice(service, user, { id: 'camera' })
      phone = await openDevice(service, user, { id: 'phone' })
    })

    const deviceOf = async (name: string) => {
      const { files } = await sent(service, { path: `${REPO}?prefix=${name}`, token: full })
      return (files as { device_id: string | null }[])[0]?.device_id
    }

    it('is that of the token that stored its content, or none', async () => {
      expect(await sent(service, { ...put('a', 1), token: camera.token })).toMatchObject({
        device_id: 'camera',
      })
      expect(await deviceOf('a')).toBe('camera')
      await sent(service, { ...put('a', 1), token: phone.token })
      expect(await deviceOf('a')).toBe('phone')
      await sent(service, { ...put('a', 1), token: full })
      expect(await deviceOf('a')).toBeNull()
    })

    it('is that of the token that made the token or the link', async () => {
      const terms = { method: 'POST', path: '/users/me/access-tokens', token: camera.token }
      const child = await sent(service, terms)
      await sent(service, { ...put('child', 1), token: String(child['access_token']) })
      expect(await deviceOf('child')).toBe('camera')
      const { token } = camera
      const { secret } = await createLink(service, { token, kind: 'drop', prefix: 'drop-' })
      const dropped = await fetch(`${service.url}/links/${secret}/x`, { method: 'PUT', body: 'x' })
      expect(dropped.status).toBe(200)
      expect(await deviceOf('drop-x')).toBe('camera')
    })

    it('is that of the token that created the resumable upload, whoever finishes it', async () => {
      const created = await send(service, {
        ...creation('big', { length: 3 }),
        token: camera.token,
      })
      const finished = await send(service, { ...firstAppend(created, 'abc'), token: phone.token })
      expect(finished.status).toBe(204)
      expect(await deviceOf('big')).toBe('camera')
    })

    it('stays when the file is renamed, changed, deleted and restored by others', async () => {
      await sent(service, { ...put('a', 1), token: camera.token })
      const headers = { 'content-type': 'application/json' }
      const change = (path: string, method: string, body: object) =>
        sent(service, { path, method, headers, body: JSON.stringify(body), token: phone.token })
      const renamed = await change(`${REPO}/a`, 'PATCH', { name: 'b', visibility: 'public' })
      expect(renamed).toMatchObject({ name: 'b', device_id: 'camera' })
      await sent(service, { method: 'DELETE', path: `${REPO}/b`, token: phone.token })
      const { versions } = await sent(service, { path: '/users/me/history', token: full })
      expect(versions).toMatchObject([{ name: 'b', device_id: 'camera' }])
      const [{ version } = { version: '' }] = versions as { version: string }[]
      const restored = await change(`/users/me/history/${version}/restore`, 'POST', {})
      expect(restored).toMatchObject({ name: 'b', device_id: 'camera' })
      expect(await usesOf(service, full)).toEqual({ camera: [1, 0, 1], phone: [0, 0, 0] })
    })

    it('is in the changes of files', async () => {
      const { next_cursor: cursor } = await sent(service, {
        path: '/users/me/changes',
        token: full,
      })
      await sent(service, { ...put('a', 1), token: camera.token })
      await sent(service, { ...put('a', 2), token: full })
      await sent(service, { method: 'DELETE', path: `${REPO}/a`, token: camera.token })
      const path = `/users/me/changes?cursor=${String(cursor)}`
      const { changes } = await sent(service, { path, token: full })
      expect(changes).toMatchObject([
        { type: 'file.created', device_id: 'camera' },
        { type: 'file.replaced', device_id: null },
        { type: 'file.deleted', device_id: null },
      ])
    })

    it('is told to nobody else', async () => {
      await sent(service, { ...put('a?visibility=public', 1), token: camera.token })
      const other = secretOf(await service.createUser(1))
      const path = `/users/${user.userId}/repo`
      const shown = await sent(service, { path, token: other })
      expect(shown['files']).toMatchObject([{ name: 'a', device_id: null }])
      for (const id of ['camera', 'phone']) {
        const asked = await sent(service, { path: `${path}?device_id=${id}`, token: other })
        expect(asked).toEqual({ files: [], next_cursor: null })
      }
      const own = await sent(service, { path, token: full })
      expect(own['files']).toMatchObject([{ name: 'a', device_id: 'camera' }])
      const { secret } = await createLink(service, { token: full, kind: 'download', prefix: '' })
      const visited = await fetch(`${service.url}/links/${secret}`)
      expect(await visited.text()).not.toContain('camera')
    })

    describe('a listing with device_id', () => {
      it.each(FILE_ORDERS)(
        'has the files of the device alone, by %s and in pages',
        async (order) => {
          const names = ['a', 'b/1', 'b/2', 'c', 'd', 'e', 'f']
          for (const [at, name] of names.entries()) {
            const token = [camera.token, phone.token, full][at % 3] ?? full
            await sent(service, { ...put(name, 10 - at), token })
          }
          const query = `&order=${order}&device_id=camera`
          const expected = ['a', 'c', 'f'].toReversed()
          const isDown = order.startsWith('-') !== order.endsWith('size')
          const found = await namesOf(service, { token: full, query })
          expect(found).toEqual(isDown ? expected : expected.toReversed())
          const [folder, text] = [`${query}&prefix=b/`, `${query}&contains=C`]
          expect(await namesOf(service, { token: full, query: folder })).toEqual([])
          expect(await namesOf(service, { token: full, query: text })).toEqual(['c'])
          expect(await namesOf(service, { token: camera.token, query })).toEqual(found)
          const path = `/admin/users/${user.userId}/files?order=${order}&device_id=phone`
          const { files } = await done(service, { method: 'GET', at: path, status: 200 })
          expect((files as { name: string }[]).map(({ name }) => name).toSorted()).toEqual([
            'b/1',
            'd',
          ])
        },
      )

      it('rolls up its names alone, and counts them', async () => {
        for (const name of ['a/1', 'b/1', 'b/2', 'c']) {
          await sent(service, { ...put(name, 2), token: camera.token })
        }
        for (const name of ['b/3', 'z/1']) await sent(service, { ...put(name, 2), token: full })
        const query = '&delimiter=/&device_id=camera'
        expect(await namesOf(service, { token: full, query })).toEqual(['a/', 'b/', 'c'])
        const path = `${REPO}?delimiter=/&folder_totals=true&device_id=camera`
        expect(await sent(service, { path, token: full })).toMatchObject({
          folders: [
            { prefix: 'a/', file_count: 1, size: 2 },
            { prefix: 'b/', file_count: 2, size: 4 },
          ],
        })
      })

      it('has only files of the prefix of the token, too', async () => {
        for (const name of ['in/b', 'in/a', 'out']) {
          await sent(service, { ...put(name, 2), token: camera.token })
        }
        await sent(service, { ...put('in/other', 2), token: full })
        const token = await issue(service, user, { prefix: 'in/' })
        for (const order of ['name', '-size']) {
          const query = `&device_id=camera&order=${order}`
          expect((await namesOf(service, { token, query })).toSorted()).toEqual(['in/a', 'in/b'])
        }
      })

      it('is refused to a token of another device', async () => {
        const refusal = async (id: string) =>
          problemOf(await send(service, { path: `${REPO}?device_id=${id}`, token: camera.token }))
        expect(await refusal('phone')).toMatchObject({
          code: 'scope_insufficient',
          required: 'device_id',
        })
        expect(await refusal('camera')).toBeUndefined()
      })

      it.each(['', 'a%20b', 'a/b', '%00', 'x'.repeat(129)])(
        'is refused for the device %j',
        async (id) => {
          for (const path of [REPO, `/users/${user.userId}/repo`]) {
            const refusal = await problemOf(
              await send(service, { path: `${path}?device_id=${id}`, token: full }),
            )
            expect(refusal).toMatchObject({ code: 'invalid_parameter', parameter: 'device_id' })
          }
        },
      )
    })

    describe('the figures of a device', () => {
      it('say what its files take, to the account and to operators', async () => {
        const terms = { label: 'Front door', model: 'm', bytes: 9, share: 5_000 }
        const path = `/${user.userId}/devices/camera`
        await done(service, { method: 'PUT', path, body: terms, status: 200 })
        await sent(service, { ...put('a', 700), token: camera.token })
        await sent(service, { ...put('b', 7), token: camera.token })
        await sent(service, { ...put('c', 70), token: full })
        const none = { used: 0, reserved: 0, file_count: 0, newest_at: null }
        const shown = [
          {
            device_id: 'camera',
            ...terms,
            used: 707,
            reserved: 0,
            file_count: 2,
            newest_at: TIME,
          },
          { device_id: 'phone', label: null, model: null, bytes: 0, share: 'all', ...none },
        ]
        expect(await figuresOf(service, full)).toEqual(shown)
        expect(await shownUser(service, user)).toMatchObject({
          capacity: { used: 777 },
          devices: shown,
        })
        const { files } = await sent(service, { path: `${REPO}?prefix=b`, token: full })
        const [{ updated_at } = { updated_at: '' }] = files as { updated_at: string }[]
        expect((await figuresOf(service, full))[0]?.newest_at).toBe(updated_at)
        const { users } = await done(service, {
          method: 'GET',
          at: `/admin/users?prefix=${user.userId}`,
          status: 200,
        })
        expect(JSON.stringify(users)).not.toContain('devices')
      })

      it('are only those of the device of the token', async () => {
        await sent(service, { ...put('a', 7), token: phone.token })
        const seen = async (token: string) => Object.keys(await usesOf(service, token))
        expect(await seen(camera.token)).toEqual(['camera'])
        expect(await seen(await issue(service, user, { prefix: 'a' }))).toEqual([])
        expect(await seen(full)).toEqual(['camera', 'phone'])
      })

      it('are gone with the device, whose files stay and keep it', async () => {
        await sent(service, { ...put('a', 7), token: camera.token })
        const path = `/${user.userId}/devices/camera`
        await done(service, { method: 'DELETE', path, status: 204 })
        expect((await send(service, { path: REPO, token: camera.token })).status).toBe(403)
        expect(await usesOf(service, full)).toEqual({ phone: [0, 0, 0] })
        expect(await deviceOf('a')).toBe('camera')
        expect(await namesOf(service, { token: full, query: '&device_id=camera' })).toEqual(['a'])
        await done(service, { method: 'PUT', path, body: {}, status: 201 })
        expect(await usesOf(service, full)).toEqual({ camera: [7, 0, 1], phone: [0, 0, 0] })
      })
    })
  })
}

import { expect } from 'vitest'
import { get, json, type Operation, post, remove, type Sent } from './operation.ts'
import { ABSENT, DEVICE, GRANT, type Scene } from './scene.ts'

const OPERATORS = '/admin/operators'
const PARKED = '/admin/webhooks/parked'

const own = ({ userId }: Scene, below = ''): string => `/admin/users/${userId}${below}`
const grant = `/grants/${GRANT.source}/${GRANT.reference}`
const put = (path: string): Sent => ({ method: 'PUT', path })

/** A list below a user, and the parameter that it refuses. */
const list = (
  below: string,
  shows: NonNullable<Operation['shows']>,
  audited?: string,
): Operation => ({
  role: 'viewer',
  sent: (scene) => get(own(scene, below)),
  status: 200,
  shows,
  ...(audited !== undefined && { audited }),
  refused: (scene) => [get(own(scene, `${below}?limit=0`)), 400, 'invalid_parameter'],
})

const notAllowed = (path: string, shown?: object): Operation => ({
  sent: () => get(path),
  status: 200,
  ...(shown !== undefined && { shows: () => shown }),
  refused: () => [put(path), 405, 'method_not_allowed'],
})

/** The operations of the admin API, by `operationId`; HEAD is tested with the operation of its GET. */
export const ADMIN_OPERATIONS: Readonly<Record<string, Operation>> = {
  getDocs: { role: 'viewer', ...notAllowed('/docs') },
  getOpenApi: { role: 'viewer', ...notAllowed('/openapi.json', { openapi: '3.1.1' }) },
  getLiveness: notAllowed('/livez', { status: 'live' }),
  getReadiness: notAllowed('/readyz', { status: 'ready', database: 'ok', object_store: 'ok' }),
  getSession: {
    role: 'viewer',
    sent: () => get('/session'),
    status: 200,
    shows: () => ({ operator: null, role: 'admin' }),
    refused: () => [get('/session?x=1'), 400, 'invalid_parameter'],
  },
  openSession: {
    sent: ({ adminToken }) => json('POST', '/session', { admin_token: adminToken }),
    status: 204,
    audited: 'session.open',
    refused: () => [json('POST', '/session', { admin_token: 'wrong' }), 401, 'unauthorized'],
  },
  closeSession: {
    sent: () => remove('/session'),
    status: 204,
    refused: () => [put('/session'), 405, 'method_not_allowed'],
  },

  getOverview: { role: 'viewer', ...notAllowed('/admin/overview', { users: { suspended: 0 } }) },
  listOperatorActions: {
    role: 'viewer',
    sent: ({ userId }) => get(`/admin/audit?user_id=${userId}`),
    status: 200,
    shows: () => ({ next_cursor: null }),
    refused: () => [get('/admin/audit?user_id=me'), 400, 'invalid_parameter'],
  },
  listUsers: {
    role: 'viewer',
    sent: ({ userId }) => get(`/admin/users?prefix=${userId}`),
    status: 200,
    shows: ({ userId: user_id }) => ({ users: [{ user_id, capacity: { used: 3 } }] }),
    refused: () => [get('/admin/users?cursor=x'), 400, 'invalid_parameter'],
  },
  createUser: {
    role: 'admin',
    sent: () => post('/admin/users'),
    status: 201,
    changes: ['users'],
    audited: 'user.create',
    refused: () => [json('POST', '/admin/users', { user_id: 'a' }), 400, 'invalid_parameter'],
  },
  putUser: {
    role: 'admin',
    sent: (scene) => put(`${own(scene)}-2`),
    status: 201,
    changes: ['users'],
    audited: 'user.create',
    refused: () => [put('/admin/users/me'), 400, 'invalid_parameter'],
  },
  getUser: {
    role: 'viewer',
    sent: (scene) => get(own(scene)),
    status: 200,
    shows: ({ userId: user_id }) => ({ user_id, status: 'active', capacity: { used: 3 } }),
    refused: () => [get('/admin/users/none'), 404, 'not_found'],
  },
  setUserStatus: {
    role: 'support',
    sent: (scene) => json('PATCH', own(scene), { status: 'suspended' }),
    status: 200,
    changes: ['users', 'history', 'links'],
    audited: 'user.set_status',
    refused: (scene) => [json('PATCH', own(scene), { status: 'gone' }), 400, 'invalid_parameter'],
  },
  deleteUser: {
    role: 'admin',
    sent: (scene) => remove(own(scene)),
    status: 202,
    changes: ['users', 'files', 'history', 'links', 'tokens', 'devices', 'grants'],
    audited: 'user.delete',
    refused: () => [remove('/admin/users/none'), 404, 'not_found'],
  },

  createAccessToken: {
    role: 'support',
    sent: (scene) => post(own(scene, '/access-tokens')),
    status: 201,
    changes: ['tokens'],
    audited: 'access_token.issue',
    refused: (scene) => [
      json('POST', own(scene, '/access-tokens'), { expires_in: 0 }),
      400,
      'invalid_parameter',
    ],
  },
  listAccessTokens: list('/access-tokens', ({ tokenId: token_id }) => ({
    access_tokens: [{ label: 'test' }, { token_id }],
  })),
  revokeAccessToken: {
    role: 'support',
    sent: (scene) => remove(own(scene, `/access-tokens/${scene.tokenId}`)),
    status: 204,
    changes: ['tokens'],
    audited: 'access_token.revoke',
    refused: (scene) => [remove(own(scene, '/access-tokens/a%20b')), 400, 'invalid_parameter'],
  },

  listDevices: list('/devices', () => ({
    devices: [{ device_id: 'camera', label: 'Front door', bytes: 1, share: 'all' }],
  })),
  putDevice: {
    role: 'admin',
    sent: (scene) => put(own(scene, '/devices/phone')),
    status: 201,
    changes: ['devices', 'grants'],
    audited: 'device.put',
    refused: (scene) => [
      json('PUT', own(scene, '/devices/phone'), { bytes: -1 }),
      400,
      'invalid_parameter',
    ],
  },
  deleteDevice: {
    role: 'admin',
    sent: (scene) => remove(own(scene, `/devices/${DEVICE}`)),
    status: 204,
    changes: ['devices', 'grants'],
    audited: 'device.remove',
    refused: (scene) => [remove(own(scene, '/devices/a%20b')), 400, 'invalid_parameter'],
  },

  listGrants: list('/grants', () => ({
    grants: [{ source: 'device' }, { source: 'gift' }, { source: 'test' }],
  })),
  putGrant: {
    role: 'admin',
    sent: (scene) => json('PUT', own(scene, '/grants/gift/two'), { bytes: 5 }),
    status: 201,
    changes: ['grants'],
    audited: 'grant.put',
    refused: (scene) => [put(own(scene, '/grants/gift/two')), 400, 'invalid_parameter'],
  },
  revokeGrant: {
    role: 'admin',
    sent: (scene) => remove(own(scene, grant)),
    status: 204,
    changes: ['grants'],
    audited: 'grant.revoke',
    refused: (scene) => [remove(own(scene, '/grants/Gift/one')), 400, 'invalid_parameter'],
  },

  listUserFiles: list('/files', ({ file: name }) => ({ files: [{ name, size: 3 }] }), 'files.list'),
  deleteUserFile: {
    role: 'support',
    sent: (scene) => remove(own(scene, `/files/${scene.file}`)),
    status: 204,
    changes: ['files', 'history'],
    audited: 'file.delete',
    refused: (scene) => [remove(own(scene, '/files/none')), 404, 'not_found'],
  },
  downloadUserArchive: {
    role: 'viewer',
    sent: (scene) => get(own(scene, '/archive')),
    status: 200,
    audited: 'files.archive',
    refused: (scene) => [get(own(scene, '/archive?name=none')), 404, 'not_found'],
  },

  listUserHistory: list('/history', ({ version }) => ({
    versions: [{ version, ended_as: 'deleted' }],
  })),
  restoreUserVersion: {
    role: 'support',
    sent: (scene) => post(own(scene, `/history/${scene.version}/restore`)),
    status: 200,
    changes: ['files', 'history'],
    audited: 'history.restore',
    refused: (scene) => [post(own(scene, `/history/${ABSENT}/restore`)), 404, 'not_found'],
  },

  listUserLinks: list('/links', ({ linkId: link_id }) => ({
    links: [{ link_id, kind: 'download' }, { kind: 'drop' }],
  })),
  updateUserLink: {
    role: 'support',
    sent: (scene) => json('PATCH', own(scene, `/links/${scene.linkId}`), { label: 'new' }),
    status: 200,
    shows: ({ linkId: link_id }) => ({ link_id, label: 'new' }),
    changes: ['links'],
    audited: 'link.update',
    refused: (scene) => [json('PATCH', own(scene, `/links/${ABSENT}`), {}), 404, 'not_found'],
  },
  revokeUserLink: {
    role: 'support',
    sent: (scene) => remove(own(scene, `/links/${scene.linkId}`)),
    status: 204,
    changes: ['links'],
    audited: 'link.revoke',
    refused: (scene) => [remove(own(scene, `/links/${ABSENT}`)), 404, 'not_found'],
  },

  listUnfinishedUploads: list('/uploads', ({ upload: upload_id }) => ({
    uploads: [{ upload_id, offset: 3 }, {}],
  })),
  cancelUnfinishedUpload: {
    role: 'support',
    sent: (scene) => remove(own(scene, `/uploads/${scene.upload}`)),
    status: 204,
    changes: ['uploads'],
    audited: 'upload.cancel',
    refused: (scene) => [remove(own(scene, `/uploads/${ABSENT}`)), 404, 'not_found'],
  },

  listParkedWebhooks: {
    role: 'viewer',
    sent: () => get(PARKED),
    status: 200,
    shows: ({ webhook: webhook_id }) => ({
      webhooks: expect.arrayContaining([expect.objectContaining({ webhook_id })]) as unknown,
    }),
    refused: () => [get(`${PARKED}?limit=0`), 400, 'invalid_parameter'],
  },
  retryParkedWebhook: {
    role: 'admin',
    sent: ({ webhook }) => post(`${PARKED}/${webhook}/retry`),
    status: 204,
    changes: ['webhooks'],
    audited: 'webhook.retry',
    refused: () => [post(`${PARKED}/msg_short/retry`), 400, 'invalid_parameter'],
  },
  discardParkedWebhook: {
    role: 'admin',
    sent: ({ webhook }) => remove(`${PARKED}/${webhook}`),
    status: 204,
    changes: ['webhooks'],
    audited: 'webhook.discard',
    refused: () => [remove(`${PARKED}/msg_short`), 400, 'invalid_parameter'],
  },

  listOperators: {
    role: 'viewer',
    sent: () => get(OPERATORS),
    status: 200,
    shows: ({ operator: name }) => ({
      operators: expect.arrayContaining([
        expect.objectContaining({ name, role: 'viewer' }),
      ]) as unknown,
    }),
    refused: () => [get(`${OPERATORS}?limit=0`), 400, 'invalid_parameter'],
  },
  addOperator: {
    role: 'admin',
    sent: ({ userId }) => json('POST', OPERATORS, { name: `of-${userId}`, role: 'support' }),
    status: 201,
    changes: ['operators'],
    audited: 'operator.add',
    refused: ({ operator: name }) => [
      json('POST', OPERATORS, { name, role: 'viewer' }),
      409,
      'operator_exists',
    ],
  },
  getOperator: {
    role: 'viewer',
    sent: ({ operator }) => get(`${OPERATORS}/${operator}`),
    status: 200,
    shows: ({ operator: name }) => ({ name, role: 'viewer' }),
    refused: () => [get(`${OPERATORS}/nobody`), 404, 'not_found'],
  },
  removeOperator: {
    role: 'admin',
    sent: ({ operator }) => remove(`${OPERATORS}/${operator}`),
    status: 204,
    changes: ['operators'],
    audited: 'operator.remove',
    refused: () => [remove(`${OPERATORS}/nobody`), 404, 'not_found'],
  },
}

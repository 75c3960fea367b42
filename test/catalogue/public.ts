import { BOUNDARY, fileBody } from '../support/http/multipart-body.ts'
import { get, json, type Operation, post, remove, type Sent } from './operation.ts'
import { ABSENT, PREFIX, type Scene } from './scene.ts'

const TUS = { 'Tus-Resumable': '1.0.0' }
const UPLOADS = '/users/me/uploads'
const TOKENS = '/users/me/access-tokens'
const LINKS = '/users/me/links'
const HISTORY = '/users/me/history'

const pathOf = ({ file }: Scene): string => `/users/me/repo/${file}`
const past = ({ version }: Scene): string => `${HISTORY}/${version}`
const upload = ({ upload: id }: Scene): string => `${UPLOADS}/${id}`
const dropUpload = ({ drop, dropped }: Scene): string => `/links/${drop}/uploads/${dropped}`

const form = (path: string): Sent => ({
  method: 'POST',
  path,
  headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` },
  body: fileBody('new').toString(),
})

const creation = (path: string, name: string, length = '10'): Sent => ({
  method: 'POST',
  path,
  headers: { ...TUS, 'Upload-Length': length, 'Upload-Metadata': `filename ${btoa(name)}` },
})

const append = (path: string, offset = '3'): Sent => ({
  method: 'PATCH',
  path,
  headers: {
    ...TUS,
    'Content-Type': 'application/offset+octet-stream',
    'Upload-Offset': offset,
  },
  body: 'def',
})

const override = (path: string, method = 'DELETE'): Sent => ({
  method: 'POST',
  path,
  headers: { ...TUS, 'X-HTTP-Method-Override': method },
})

const head = (path: string): Sent => ({ method: 'HEAD', path, headers: TUS })
const put = (path: string, body = 'new'): Sent => ({ method: 'PUT', path, body })

/** The operations of the public API, by `operationId`; HEAD is tested with the operation of its GET. */
export const PUBLIC_OPERATIONS: Readonly<Record<string, Operation>> = {
  getDocs: {
    sent: () => get('/docs'),
    status: 200,
    refused: () => [put('/docs'), 405, 'method_not_allowed'],
  },
  getOpenApi: {
    sent: () => get('/openapi.json'),
    status: 200,
    shows: () => ({ openapi: '3.1.1' }),
    refused: () => [put('/openapi.json'), 405, 'method_not_allowed'],
  },
  getLiveness: {
    sent: () => get('/livez'),
    status: 200,
    shows: () => ({ status: 'live' }),
    refused: () => [put('/livez'), 405, 'method_not_allowed'],
  },
  getReadiness: {
    sent: () => get('/readyz'),
    status: 200,
    shows: () => ({ status: 'ready', database: 'ok', object_store: 'ok' }),
    refused: () => [put('/readyz'), 405, 'method_not_allowed'],
  },

  getSession: {
    anyOf: [],
    sent: () => get('/session'),
    status: 200,
    shows: ({ userId: user_id }) => ({ user_id, scope: null }),
    refused: () => [put('/session'), 405, 'method_not_allowed'],
  },
  openSession: {
    sent: ({ token }) => json('POST', '/session', { access_token: token }),
    status: 204,
    refused: () => [json('POST', '/session', { access_token: 5 }), 400, 'invalid_parameter'],
  },
  closeSession: {
    sent: () => remove('/session'),
    status: 204,
    refused: () => [put('/session'), 405, 'method_not_allowed'],
  },

  listAccessTokens: {
    anyOf: ['share'],
    sent: () => get(TOKENS),
    status: 200,
    shows: ({ tokenId: token_id }) => ({ access_tokens: [{ label: 'test' }, { token_id }] }),
    refused: () => [get(`${TOKENS}?limit=0`), 400, 'invalid_parameter'],
  },
  createAccessToken: {
    anyOf: ['share'],
    sent: () => json('POST', TOKENS, { label: 'new' }),
    status: 201,
    changes: ['tokens'],
    refused: () => [json('POST', TOKENS, { expires_in: 0 }), 400, 'invalid_parameter'],
  },
  revokeAccessToken: {
    anyOf: ['share'],
    sent: ({ tokenId }) => remove(`${TOKENS}/${tokenId}`),
    status: 204,
    changes: ['tokens'],
    refused: () => [remove(`${TOKENS}/a%20b`), 400, 'invalid_parameter'],
  },

  listLinks: {
    anyOf: ['share'],
    sent: () => get(LINKS),
    status: 200,
    shows: ({ linkId: link_id }) => ({ links: [{ link_id, kind: 'download' }, { kind: 'drop' }] }),
    refused: () => [get(`${LINKS}?cursor=x`), 400, 'invalid_parameter'],
  },
  createLink: {
    anyOf: ['share'],
    and: 'read',
    sent: () => json('POST', LINKS, { kind: 'download', prefix: PREFIX }),
    status: 201,
    changes: ['links'],
    refused: () => [json('POST', LINKS, { kind: 'other' }), 400, 'invalid_parameter'],
  },
  updateLink: {
    anyOf: ['share'],
    sent: ({ linkId }) => json('PATCH', `${LINKS}/${linkId}`, { label: 'new' }),
    status: 200,
    shows: ({ linkId: link_id }) => ({ link_id, label: 'new' }),
    changes: ['links'],
    refused: () => [json('PATCH', `${LINKS}/${ABSENT}`, {}), 404, 'not_found'],
  },
  renewLinkSecret: {
    anyOf: ['share'],
    sent: ({ linkId }) => post(`${LINKS}/${linkId}/secret`),
    status: 200,
    shows: ({ linkId: link_id }) => ({ link_id }),
    refused: () => [post(`${LINKS}/${ABSENT}/secret`), 404, 'not_found'],
  },
  revokeLink: {
    anyOf: ['share'],
    sent: ({ linkId }) => remove(`${LINKS}/${linkId}`),
    status: 204,
    changes: ['links'],
    refused: () => [remove(`${LINKS}/${ABSENT}`), 404, 'not_found'],
  },

  getCapacity: {
    anyOf: ['read'],
    sent: () => get('/users/me/capacity'),
    status: 200,
    shows: ({ userId: user_id }) => ({ user_id, used: 3, reserved: 13, file_count: 1 }),
    refused: () => [put('/users/me/capacity'), 405, 'method_not_allowed'],
  },
  listChanges: {
    anyOf: ['read'],
    sent: () => get('/users/me/changes'),
    status: 200,
    shows: () => ({ changes: [], has_more: false }),
    refused: () => [get('/users/me/changes?wait=x'), 400, 'invalid_parameter'],
  },
  listFiles: {
    anyOf: ['read'],
    isNamed: true,
    sent: ({ file }) => get(`/users/me/repo?prefix=${file}`),
    status: 200,
    shows: ({ file: name }) => ({ files: [{ name, size: 3 }] }),
    refused: () => [get('/users/me/repo?order=age'), 400, 'invalid_parameter'],
  },
  listUserFiles: {
    anyOf: ['read'],
    sent: ({ userId }) => get(`/users/${userId}/repo`),
    status: 200,
    shows: ({ file: name }) => ({ files: [{ name, size: 3 }] }),
    refused: ({ userId }) => [get(`/users/${userId}/repo?limit=x`), 400, 'invalid_parameter'],
  },
  downloadArchive: {
    anyOf: ['read'],
    isNamed: true,
    sent: ({ file }) => get(`/users/me/archive?name=${file}`),
    status: 200,
    refused: () => [get('/users/me/archive?name=none'), 404, 'not_found'],
  },

  listHistory: {
    anyOf: ['history'],
    isNamed: true,
    sent: ({ file }) => get(`${HISTORY}?name=${file}`),
    status: 200,
    shows: () => ({ versions: [] }),
    refused: () => [get(`${HISTORY}?name=a%2F%2Fb`), 400, 'invalid_file_name'],
  },
  purgeHistory: {
    anyOf: ['history'],
    sent: () => remove(HISTORY),
    status: 204,
    changes: ['history'],
    refused: () => [remove(`${HISTORY}?name=a`), 400, 'invalid_parameter'],
  },
  downloadPastVersion: {
    anyOf: ['history'],
    sent: (scene) => get(past(scene)),
    status: 200,
    refused: () => [get(`${HISTORY}/${ABSENT}`), 404, 'not_found'],
  },
  purgePastVersion: {
    anyOf: ['history'],
    sent: (scene) => remove(past(scene)),
    status: 204,
    changes: ['history'],
    refused: () => [remove(`${HISTORY}/${ABSENT}`), 404, 'not_found'],
  },
  restorePastVersion: {
    anyOf: ['history'],
    and: 'create',
    sent: (scene) => json('POST', `${past(scene)}/restore`, {}),
    status: 200,
    changes: ['files', 'history'],
    refused: (scene) => [
      json('POST', `${past(scene)}/restore`, { name: scene.file }),
      409,
      'file_exists',
    ],
  },

  uploadFile: {
    anyOf: ['create', 'replace'],
    isNamed: true,
    sent: (scene) => form(pathOf(scene)),
    status: 200,
    changes: ['files', 'history'],
    refused: (scene) => [{ ...form(pathOf(scene)), body: 'none' }, 400, 'truncated_body'],
  },
  putFile: {
    anyOf: ['create', 'replace'],
    isNamed: true,
    sent: (scene) => put(pathOf(scene)),
    status: 200,
    changes: ['files', 'history'],
    refused: (scene) => [put(`${pathOf(scene)}?visibility=all`), 400, 'invalid_parameter'],
  },
  downloadFile: {
    anyOf: ['read'],
    isNamed: true,
    sent: (scene) => get(pathOf(scene)),
    status: 200,
    refused: () => [get('/users/me/repo/none'), 404, 'not_found'],
  },
  downloadUserFile: {
    anyOf: ['read'],
    isNamed: true,
    sent: ({ userId, file }) => get(`/users/${userId}/repo/${file}`),
    status: 200,
    refused: ({ userId }) => [get(`/users/${userId}/repo/none`), 404, 'not_found'],
  },
  updateFile: {
    anyOf: ['replace'],
    isNamed: true,
    sent: (scene) => json('PATCH', pathOf(scene), { keep: true }),
    status: 200,
    changes: ['files'],
    refused: (scene) => [json('PATCH', pathOf(scene), {}), 400, 'format_error'],
  },
  deleteFile: {
    anyOf: ['delete'],
    isNamed: true,
    sent: (scene) => remove(pathOf(scene)),
    status: 204,
    changes: ['files', 'history'],
    refused: (scene) => [
      remove(pathOf(scene), { 'If-Match': '"other"' }),
      412,
      'precondition_failed',
    ],
  },
  runBatch: {
    anyOf: ['delete'],
    isNamed: true,
    sent: ({ file: name }) =>
      json('POST', '/users/me/batch', { operations: [{ op: 'delete', name }] }),
    status: 200,
    changes: ['files', 'history'],
    refused: () => [json('POST', '/users/me/batch', { operations: [] }), 400, 'invalid_parameter'],
  },

  getUploadCapabilities: {
    sent: () => ({ method: 'OPTIONS', path: UPLOADS }),
    status: 204,
    refused: () => [put(UPLOADS), 405, 'method_not_allowed'],
  },
  createUpload: {
    anyOf: ['create', 'replace'],
    isNamed: true,
    sent: ({ file }) => creation(UPLOADS, file),
    status: 201,
    changes: ['uploads'],
    refused: ({ file }) => [creation(UPLOADS, file, '9999999'), 403, 'capacity_exceeded'],
  },
  listUploads: {
    anyOf: ['create', 'replace'],
    sent: () => get(UPLOADS),
    status: 200,
    shows: ({ upload: upload_id }) => ({ uploads: [{ upload_id, offset: 3, length: 10 }, {}] }),
    refused: () => [get(`${UPLOADS}?limit=0`), 400, 'invalid_parameter'],
  },
  getUpload: {
    anyOf: ['create', 'replace'],
    sent: (scene) => get(upload(scene)),
    status: 200,
    shows: ({ upload: upload_id }) => ({ upload_id, offset: 3, length: 10 }),
    refused: () => [get(`${UPLOADS}/${ABSENT}`), 404, 'not_found'],
  },
  getUploadOffset: {
    anyOf: ['create', 'replace'],
    sent: (scene) => head(upload(scene)),
    status: 200,
    refused: () => [head(`${UPLOADS}/${ABSENT}`), 404, 'not_found'],
  },
  appendToUpload: {
    anyOf: ['create', 'replace'],
    sent: (scene) => append(upload(scene)),
    status: 204,
    changes: ['uploads'],
    refused: (scene) => [append(upload(scene), '5'), 409, 'offset_mismatch'],
  },
  cancelUpload: {
    anyOf: ['create', 'replace'],
    sent: (scene) => remove(upload(scene), TUS),
    status: 204,
    changes: ['uploads'],
    refused: (scene) => [
      remove(upload(scene), { 'Tus-Resumable': '0.2.2' }),
      412,
      'tus_version_unsupported',
    ],
  },
  overrideUpload: {
    anyOf: ['create', 'replace'],
    sent: (scene) => override(upload(scene)),
    status: 204,
    changes: ['uploads'],
    refused: (scene) => [override(upload(scene), 'PUT'), 405, 'method_not_allowed'],
  },

  getLink: {
    sent: ({ download }) => get(`/links/${download}`),
    status: 200,
    shows: () => ({ kind: 'download', files: [{ name: 'file', size: 3 }] }),
    refused: () => [get('/links/none'), 404, 'not_found'],
  },
  unlockLink: {
    sent: ({ locked }) => json('POST', `/links/${locked}`, { password: 'right' }),
    status: 204,
    refused: ({ locked }) => [
      json('POST', `/links/${locked}`, { password: 'wrong' }),
      403,
      'link_password_invalid',
    ],
  },
  downloadLinkedFile: {
    sent: ({ download, file }) => get(`/links/${download}/${file.slice(PREFIX.length)}`),
    status: 200,
    refused: ({ locked }) => [get(`/links/${locked}/file`), 401, 'link_password_required'],
  },
  dropFileForm: {
    sent: ({ drop }) => form(`/links/${drop}/new`),
    status: 200,
    changes: ['files', 'links'],
    refused: ({ download }) => [form(`/links/${download}/new`), 404, 'not_found'],
  },
  dropFile: {
    sent: ({ drop }) => put(`/links/${drop}/new`),
    status: 200,
    changes: ['files', 'links'],
    refused: ({ download }) => [put(`/links/${download}/new`), 404, 'not_found'],
  },
  createDropUpload: {
    sent: ({ drop }) => creation(`/links/${drop}/uploads/`, 'new'),
    status: 201,
    changes: ['uploads'],
    refused: ({ download }) => [creation(`/links/${download}/uploads/`, 'new'), 404, 'not_found'],
  },
  getDropUploadOffset: {
    sent: (scene) => head(dropUpload(scene)),
    status: 200,
    refused: ({ drop }) => [head(`/links/${drop}/uploads/${ABSENT}`), 404, 'not_found'],
  },
  appendToDropUpload: {
    sent: (scene) => append(dropUpload(scene)),
    status: 204,
    changes: ['uploads'],
    refused: (scene) => [append(dropUpload(scene), '5'), 409, 'offset_mismatch'],
  },
  cancelDropUpload: {
    sent: (scene) => remove(dropUpload(scene), TUS),
    status: 204,
    changes: ['uploads'],
    refused: ({ drop, upload: own }) => [
      remove(`/links/${drop}/uploads/${own}`, TUS),
      404,
      'not_found',
    ],
  },
  overrideDropUpload: {
    sent: (scene) => override(dropUpload(scene)),
    status: 204,
    changes: ['uploads'],
    refused: (scene) => [override(dropUpload(scene), 'PUT'), 405, 'method_not_allowed'],
  },
}

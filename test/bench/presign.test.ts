import { expect, test } from 'vitest'
import { createPresigner } from '../../bench/setup/presign.ts'

// The example of "Authenticating Requests: Using Query Parameters" in the API reference of Amazon S3.
test('a presigned request is the one of the documentation', () => {
  const key = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const presign = createPresigner(key, new Date('2013-05-24T00:00:00.000Z'))
  const target = presign({
    method: 'GET',
    host: 'examplebucket.s3.amazonaws.com',
    path: '/test.txt',
  })
  expect(target).toMatch(/^\/test\.txt\?X-Amz-Algorithm=AWS4-HMAC-SHA256&/)
  expect(target).toContain('&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&')
  expect(target).toMatch(
    /&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404$/,
  )
})

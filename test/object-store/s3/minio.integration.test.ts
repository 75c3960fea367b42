import { inject } from 'vitest'
import { chosenS3Server } from '../../support/servers/s3-servers.ts'
import { s3ServerSuite } from './server-suite.ts'

const { title, keepsReplacedParts } = chosenS3Server()
s3ServerSuite(title, inject('minio'), { keepsReplacedParts })

import { defineConfig } from 'vite'

const service = 'http://127.0.0.1:3000'
export default defineConfig({ server: { proxy: { '/users': service, '/session': service } } })

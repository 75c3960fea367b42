# The image of Cloud Repository: Node, the production dependencies, and the compiled JavaScript.
#   docker build -t cloud-repository .
#   docker run --read-only -p 127.0.0.1:3000:3000 -v cloud-repository:/data cloud-repository

# With another value, the build uses that image, such as one of a mirror.
ARG NODE_IMAGE=node:24-trixie-slim@sha256:50c3b2f6988dfc307b86e5301d69611af31f4789bdf232863b07d3b02fe55ae0

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Install scripts would download a Node and database servers for tests, which the build does not need.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY web web
COPY packages/js/src packages/js/src
COPY api api
COPY scripts scripts
RUN npm run build && chmod 755 dist/main.js

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
# With `--omit=dev`, the list would lack packages that development needs too.
RUN npm pkg delete devDependencies workspaces && npm sbom --sbom-format=cyclonedx > sbom.json

FROM ${NODE_IMAGE}
WORKDIR /app
RUN ln -s /app/dist/main.js /usr/local/bin/cloud-repo \
 && mkdir /data && chown 1000:1000 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY api api
# The list of packages, for vulnerability scanners.
COPY --from=dependencies /app/sbom.json ./
COPY package.json LICENSE ./
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Cloud Repository" \
      org.opencontainers.image.description="A per-account cloud file repository over S3-compatible storage, with an exact quota." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# Without this limit V8's young generation grows by 100 MiB, for hardly any gain in speed (bench/NOTES.md).
ENV NODE_OPTIONS=--max-semi-space-size=8
# Reads of local files use all threads but one: with Node's default of 4, large downloads are 4 % slower.
ENV UV_THREADPOOL_SIZE=8
# A number, so that an orchestrator can verify that the user is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# Uploads in progress have 25 s to finish. `docker stop` kills after 10 s unless `--stop-timeout 35` is set.
STOPSIGNAL SIGTERM
# A start may migrate the database, so failed checks count only after 5 minutes, or after the first success.
HEALTHCHECK --interval=10s --timeout=5s --start-period=5m --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT||3000}${process.env.BASE_PATH??''}/livez`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
# The shebang replaces itself with Node, which runs as process 1 and handles SIGTERM and SIGINT.
ENTRYPOINT ["cloud-repo"]
CMD ["serve"]

# The image of Cloud Repository: Node, what npm installs for production, and the emitted JavaScript.
#   docker build -t cloud-repository .
#   docker run --read-only -p 127.0.0.1:3000:3000 -v cloud-repository:/data cloud-repository

FROM node:24-trixie-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: what they would fetch (a Node, database servers for tests) is not needed to compile.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY web web
COPY api api
COPY scripts scripts
RUN npm run build && chmod 755 dist/main.js && mv dist/NOTICE dist/sbom.json .

FROM node:24-trixie-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts

FROM node:24-trixie-slim
WORKDIR /app
RUN ln -s /app/dist/main.js /usr/local/bin/cloud-repo \
 && mkdir /data && chown 1000:1000 /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
# What is in it, for those who look for known vulnerabilities, and under which licences.
COPY --from=build /app/sbom.json /app/NOTICE ./
COPY package.json LICENSE ./
ARG VERSION=0.1.0
ARG REVISION=
LABEL org.opencontainers.image.title="Cloud Repository" \
      org.opencontainers.image.description="A per-account cloud file repository over S3-compatible storage, with an exact quota." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
# Without a bound V8's young generation grows by a hundred MiB, and hardly anything is faster for it (bench/NOTES.md).
ENV NODE_OPTIONS=--max-semi-space-size=8
# By number, so that an orchestrator can see that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3000
# Uploads under way get 25 s to finish: give `docker stop` more than its 10 s, as in `--stop-timeout 35`.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT||3000}${process.env.BASE_PATH??''}/livez`).then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))"]
# The shebang becomes Node itself, as process 1; it handles SIGTERM and SIGINT.
ENTRYPOINT ["cloud-repo"]
CMD ["serve"]

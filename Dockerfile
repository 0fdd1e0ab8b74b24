# An image of a registry by its digest can be given instead: --build-arg NODE_IMAGE=node:24-slim@sha256:...
ARG NODE_IMAGE=node:24-slim

# On the processor of the builder, whichever one the image is for: nothing is compiled, so nothing has to be emulated.
FROM --platform=$BUILDPLATFORM $NODE_IMAGE AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build
# Of a clone that only its owner may read.
RUN chmod -R a+rX package.json LICENSE dist src
# The packages with native code come as binaries for the processor of the image.
ARG TARGETARCH
RUN npm ci --omit=dev --ignore-scripts --os=linux --libc=glibc --cpu=$(echo $TARGETARCH | sed s/amd64/x64/)
# A named volume takes the owner of the folder that it is mounted on.
RUN mkdir -p /volumes/config /volumes/data /volumes/history

FROM $NODE_IMAGE
WORKDIR /app
# One thread for garbage collection: more slow down the event loop where there are few processors.
ENV NODE_ENV=production HOST=0.0.0.0 NODE_OPTIONS=--v8-pool-size=1
COPY --from=build /app/package.json ./
COPY --from=build /app/LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/src/check-node.mjs src/
COPY --from=build /app/src/data/sample src/data/sample
COPY --from=build /app/src/web/fonts src/web/fonts
COPY --from=build --chown=node:node /volumes /
USER node
# tickwarden.yaml and .env are read from here.
WORKDIR /config
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s CMD ["node", "/app/dist/src/main.js", "healthcheck"]
ENTRYPOINT ["node", "/app/dist/src/main.js"]
ARG VERSION=unknown
ARG REVISION=unknown
ARG SOURCE=unknown
LABEL org.opencontainers.image.title="Tickwarden" \
      org.opencontainers.image.description="Watches Minecraft servers from outside, without a mod" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$REVISION" \
      org.opencontainers.image.source="$SOURCE"

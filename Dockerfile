FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
WORKDIR /app
# One thread for garbage collection: more slow down the event loop where there are few processors.
ENV NODE_ENV=production HOST=0.0.0.0 NODE_OPTIONS=--v8-pool-size=1
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/src/check-node.mjs src/
COPY --from=build /app/src/data/sample src/data/sample
COPY --from=build /app/src/web/fonts src/web/fonts
# A named volume takes the owner of the folder that it is mounted on.
RUN mkdir /data /history && chown node:node /data /history
USER node
EXPOSE 8080
CMD ["node", "dist/src/main.js"]

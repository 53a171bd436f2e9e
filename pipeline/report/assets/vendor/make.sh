#!/bin/sh
# Make slickgrid.js and slickgrid.css anew, of the version in slickgrid.version: the three files of
# SlickGrid that draw a grid, without editors, menus and its own rows, made smaller by esbuild.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
version=$(cat "$here/slickgrid.version")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund "slickgrid@$version" esbuild@0.28.2
built=node_modules/slickgrid/dist
cat "$built/browser/slick.core.js" "$built/browser/slick.interactions.js" \
  "$built/browser/slick.grid.js" > all.js
banner="/* SlickGrid $version, MIT licence, see slickgrid.LICENSE */"
npx esbuild all.js --minify --legal-comments=none --charset=utf8 --banner:js="$banner" \
  --outfile="$here/slickgrid.js" --allow-overwrite --log-level=warning
npx esbuild "$built/styles/css/slick.grid.css" --minify --legal-comments=none \
  --banner:css="$banner" --outfile="$here/slickgrid.css" --allow-overwrite --log-level=warning
cp node_modules/slickgrid/LICENSE "$here/slickgrid.LICENSE"

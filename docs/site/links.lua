-- SPDX-License-Identifier: Apache-2.0
-- Links between Markdown files become links between pages: a.md to a.html, a/ to a/README.html. The page of the top
-- README is index.html.
-- Tables scroll in a box of their own where they are too wide.
function Link(link)
    if link.target:match("^%a+:") then
        return link
    end
    local path, anchor = link.target:match("^([^#]*)(.*)$")
    local _, depth = PANDOC_STATE.input_files[1]:gsub("/", "")
    local top = string.rep("../", depth)
    if path == top .. "README.md" then
        path = top .. "index.html"
    elseif path:match("/$") then
        path = path .. "README.html"
    else
        path = path:gsub("%.md$", ".html")
    end
    link.target = path .. anchor
    return link
end

function Table(element)
    return pandoc.Div({ element }, { class = "table" })
end

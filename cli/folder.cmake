# Read by cairn_cli() in cmake/CairnFolder.cmake.
# What a glob cannot know about cli/: the adapter's list of calls, and what the built command itself
# makes: manual pages and completion scripts.
target_include_directories(cairn_cli INTERFACE ${CMAKE_SOURCE_DIR}/adapters)

set(made ${CMAKE_BINARY_DIR}/made-by-cairn)
add_custom_command(TARGET cairn_command POST_BUILD VERBATIM
  COMMAND ${CMAKE_COMMAND} -DCAIRN=$<TARGET_FILE:cairn_command> -DINTO=${made}
    -P ${CMAKE_CURRENT_LIST_DIR}/make_pages.cmake)
install(DIRECTORY ${made}/man1 DESTINATION share/man OPTIONAL)
install(FILES ${made}/cairn.bash DESTINATION share/bash-completion/completions
  RENAME cairn OPTIONAL)
install(FILES ${made}/_cairn DESTINATION share/zsh/site-functions OPTIONAL)
install(FILES ${made}/cairn.fish DESTINATION share/fish/vendor_completions.d OPTIONAL)
